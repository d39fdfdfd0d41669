import type { Experiment } from '../model/experiment.ts'
import type { VerdictWord } from '../model/outcome.ts'
import { reasonOf } from '../model/reason.ts'
import type { Waiting } from '../plan/action.ts'
import { AWAITS_SYNC } from './sync-text.ts'
import { HOLDOUT_FAILED } from '../plan/holdout.ts'

/** How an experiment stands, as far as people read it: one of six words, or what it waits for. */
export type Standing = Pick<Experiment, 'status' | 'verdict' | 'outcome' | 'reason'> & {
  /** What was kept and then undone is not kept any more. */
  takenBack?: boolean
  /** Its verdict is not its last: it stays open, and may be taken up again. */
  parked?: boolean
  /** What its pairs say before there is a verdict. */
  soFar?: string | null
  /** The packages it may not be measured without. */
  packages?: string | null
  /** Nobody with the right to has allowed it to be measured. */
  permission?: boolean
  /** Only a person can have the default branch merged in, and before that it is not measured. */
  sync?: boolean
  /** What would settle it, where something still can. */
  next?: string | null
}
type Judged = Pick<Standing, 'verdict' | 'outcome' | 'reason' | 'takenBack' | 'parked'>

/** The word everywhere: status, log, comments, results. */
export function verdictPhrase(
  experiment: Standing,
): VerdictWord | typeof TAKEN_BACK | `waiting for ${string}` {
  if (experiment.takenBack === true) return TAKEN_BACK
  return experiment.verdict ?? `waiting for ${awaited(experiment)}`
}

const TAKEN_BACK = 'kept, taken back'

function awaited({ status, packages, permission, sync }: Standing): string {
  switch (status) {
    case 'queued':
      if (sync === true) return AWAITS_SYNC
      return permission === true ? 'permission to be measured' : 'a runner'
    case 'ordered':
      return 'a runner'
    case 'deferred':
      return packages == null || packages === '' ? 'approval' : `approval of ${packages}`
    case 'measured':
      return 'the rest of its round'
    case 'parked':
      return 'more evidence'
    case 'landing':
      return 'its merge'
    case 'ended':
      return 'its verdict'
    default:
      return status satisfies never
  }
}

/** The sentence that comes first: the verdict, then its reason. What that rests on is in the evidence line. */
export function verdictSentence(judged: Judged): string {
  const { verdict, outcome, reason, takenBack, parked } = judged
  const word = verdict === null ? 'Closed' : capitalised(takenBack === true ? TAKEN_BACK : verdict)
  const withdrawn = outcome === 'withdrawn' ? ' (withdrawn)' : parked === true ? ' yet' : ''
  const why = reason === HOLDOUT_FAILED ? NOT_HELD : whyOf(judged)
  return why === '' ? `${word}${withdrawn}.` : `${word}${withdrawn}: ${why}`
}

/** A runner-up was better alone: what it is worse than has to be said. */
function whyOf({ verdict, outcome, reason }: Judged): string {
  const why = withoutVerdict(reasonOf(reason ?? '').sentence, verdict)
  return outcome === 'runner_up_dropped' ? why.replace(/^worse: /, 'worse on top of what was kept: ') : why
}

const NOT_HELD = 'better on the metric, but it did not pass the holdout'

/** Where it stands now: the verdict, or what is known and missing before there is one. */
export function standingSentence(experiment: Standing): string {
  const { verdict, soFar = null, next = null } = experiment
  const then = next === null ? '' : ` Next: ${next}.`
  if (verdict !== null) return `${verdictSentence(experiment)}${then}`
  if (soFar === null) return `${capitalised(verdictPhrase(experiment))}.${then}`
  return `${capitalised(NOT_PROVEN)} yet: ${soFar}${then}`
}

const NOT_PROVEN = 'not proven' satisfies VerdictWord

/** Reasons that begin with their own verdict would say it twice. */
function withoutVerdict(reason: string, verdict: VerdictWord | null): string {
  const said = `${verdict}: `
  return reason.startsWith(said) ? reason.slice(said.length) : reason
}

export function waitingSentence(waiting: Waiting): string {
  switch (waiting.for) {
    case 'orders':
      return `Waiting for ${waiting.orders.length === 1 ? 'a measurement' : `${waiting.orders.length} measurements`}.`
    case 'judges': {
      const failed = waiting.reason === null ? '' : ` The last time: ${waiting.reason}.`
      return `Waiting for models to score ${waiting.orders.length === 1 ? 'a measurement' : `${waiting.orders.length} measurements`}.${failed}`
    }
    case 'proposers':
      return `Waiting for ${waiting.who.join(', ')}: asked for an idea.`
    case 'ideas':
      return 'Waiting for ideas: nothing is queued and no proposer has one.'
    case 'person':
      return `Waiting for a person: ${waiting.what}`
    case 'nothing':
      return `Stopped: ${waiting.reason}`
    default:
      return waiting satisfies never
  }
}

export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
