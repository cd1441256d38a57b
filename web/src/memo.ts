// A view that is drawn anew only when one of its properties is another one.
import { Component, h, type ComponentType, type VNode } from 'preact';

export function memo<P extends object>(View: (props: P) => VNode | null): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const keys = Object.keys(next) as (keyof P)[];
      return keys.length !== Object.keys(this.props).length || keys.some((key) => !Object.is(next[key], (this.props as P)[key]));
    }
    override render() {
      return h(View as ComponentType<P>, this.props as P);
    }
  };
}
