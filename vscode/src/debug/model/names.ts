/** The type of debug configurations and sessions. */
export const TYPE = 'msvm';
/** Scheme of the documents that hold bytecode. */
export const SCHEME = 'msvm';
