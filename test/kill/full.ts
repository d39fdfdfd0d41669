/** All of it with WINNOW_KILLS=full; otherwise a sample. */
export const full = process.env['WINNOW_KILLS'] === 'full'
