/** The code of the alert about a run whose jobs wait for a machine; `about` is the run's id. */
export const NO_MACHINE = 'no-machine'
