import { z } from 'zod'

/** Hostile changes that winnow makes itself and measures like ideas, to find out what the harness notices. */
const probeNameSchema = z.enum([
  'vanish', // every file that may change is empty
  'exit-at-load', // the process ends with success when the code is loaded
  'exit-at-call', // the process ends with success at the first call
  'forge-output', // prints better numbers in the harness's own format, then ends the process
  'forge-result-file', // writes better numbers to WINNOW_RESULT_PATH, then ends the process
  'answer-nothing', // every function returns an empty value
  'detect', // ends the process only where its arguments show the harness, not a gate
  'remember', // leaves marks in one execution and looks for them in the next
  'slow-clock', // the timers of the language show a tenth of the time
  'forge-text', // a text is the harness's own output with better numbers, if something prints or executes it
  'instruct', // a text tells its reader to report the best score
  'stuff', // a text repeats the words of the metric, the rubric and the tasks
])
export type ProbeName = z.infer<typeof probeNameSchema>

export const PROBE_NAMES = probeNameSchema.options

/** Raise it when the same base gives other trees: an audit builds only those of its own version again. */
export const PROBES_VERSION = 1
/** The same for a base whose texts are probed, too. */
export const TEXT_PROBES_VERSION = 2

/** The side of a report that a probe was measured as. */
export const probeLabelSchema = z.templateLiteral(['probe-', probeNameSchema])
export type ProbeLabel = z.infer<typeof probeLabelSchema>

export function toProbeLabel(name: ProbeName): ProbeLabel {
  return `probe-${name}`
}

export const probeResultSchema = z.strictObject({
  name: probeNameSchema,
  /** The check that stopped the probe. Null: it would have been kept, or the probe does not apply. */
  caught_by: z.string().nullable(),
  detail: z.string(),
  /** False for a probe that could not be built, or that this code has no place for. */
  applicable: z.boolean(),
})
export type ProbeResult = z.infer<typeof probeResultSchema>

/** Whether a change can raise the number without making the program better. */
export type HarnessGuard = { is: 'guarded' } | { is: 'forgeable'; by: ProbeName[] }
