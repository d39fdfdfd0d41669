/** As whom a program is started that is told everything in a pipe: by this word it knows that it is root, for users of sides alone. */
export const AS_ROOT = 'as-root'
/** The same as whoever starts it. */
export const BY_PIPE = 'by-pipe'
