/** The end of a job's log whose result another job of the run reads; that job is found by the name GitHub shows. */
export const RECORDED_LATER = 'The job "take results in" of this run records the result.'
