type Child = Node | string | undefined;

/** An element with properties, and children. */
export function h<K extends keyof HTMLElementTagNameMap>(name: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: readonly Child[]): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function svg(name: string, attributes: Readonly<Record<string, string | number>>, ...children: readonly Child[]): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children.filter((child) => child !== undefined));
  return made;
}
