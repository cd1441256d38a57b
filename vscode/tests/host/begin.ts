/** The line after which what the extension host says is the tests'. */
export const BEGIN = 'suites inside the extension host';
