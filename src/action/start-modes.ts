/** First argument of a program that runs as root and reads its task from a pipe. */
export const AS_ROOT = 'as-root'
/** First argument of a program that runs as its parent's user and reads its task from a pipe. */
export const BY_PIPE = 'by-pipe'
