/** `.ci/run` asks for all of it; `npm test` runs a sample. */
export const full = process.env['WINNOW_KILLS'] === 'full'
