import type { Experiment } from '../model/experiment.ts'
import { type OutcomeLabel, getOutcomeLabel, type VerdictWord } from '../model/outcome.ts'
import { withReason } from '../model/describe-status.ts'
import { parseReason } from '../model/reason.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { AWAITS_SYNC } from './sync-text.ts'
import { HOLDOUT_FAILED_REASON } from '../plan/holdout.ts'

/** How an experiment stands, as far as people read it: one of six words, or what it waits for. */
export type ExperimentState = Pick<Experiment, 'status' | 'verdict' | 'outcome' | 'reason'> & {
  /** What was kept and then undone is not kept any more. */
  reverted?: boolean
  /** Its verdict is not its last: it stays open, and may be taken up again. */
  parked?: boolean
  /** What its pairs say before there is a verdict. */
  progress?: string | null
  /** The packages it may not be measured without. */
  packages?: string | null
  /** Nobody with the right to has allowed it to be measured. */
  permission?: boolean
  /** Only a person can have the default branch merged in, and before that it is not measured. */
  sync?: boolean
  /** The campaign is stopped: what has to come first. Null while it runs. */
  after?: string | null
  /** Why it was put back into the queue. */
  putBack?: string | null
  /** What would settle it, where something still can. */
  next?: string | null
}
type VerdictFacts = Pick<ExperimentState, 'verdict' | 'outcome' | 'reason' | 'reverted' | 'parked'>

/** The word everywhere: status, log, comments, results. */
export function describeVerdict(
  experiment: ExperimentState,
): VerdictWord | VerdictLabel | `waiting for ${string}` {
  return toVerdictLabel(experiment) ?? `waiting for ${describeAwaited(experiment)}`
}

const TAKEN_BACK = 'kept, taken back'

type VerdictLabel = typeof TAKEN_BACK | OutcomeLabel

function toVerdictLabel({
  verdict,
  outcome,
  reverted: takenBack,
}: VerdictFacts): VerdictWord | VerdictLabel | null {
  if (takenBack === true) return TAKEN_BACK
  return verdict === null ? null : getOutcomeLabel(outcome, verdict)
}

function describeAwaited({ status, packages, permission, sync, after }: ExperimentState): string {
  switch (status) {
    case 'queued':
      if (after != null) return after
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
export function renderVerdictSentence(judged: VerdictFacts): string {
  const { outcome, reason, parked } = judged
  const label = toVerdictLabel(judged)
  const word = label === null ? 'Closed' : toSentenceCase(label)
  const withdrawn = outcome === 'withdrawn' ? ' (withdrawn)' : parked === true ? ' yet' : ''
  const why = reason === HOLDOUT_FAILED_REASON ? NOT_HELD : getPlainReason(judged)
  if (outcome === 'runner_up_dropped' && why.startsWith('promising alone')) return toSentenceCase(why)
  return why === '' ? `${word}${withdrawn}.` : `${word}${withdrawn}: ${why}`
}

/** Reasons that begin with their own verdict would say it twice. */
export function getPlainReason({ verdict, reason }: Pick<VerdictFacts, 'verdict' | 'reason'>): string {
  const { sentence } = parseReason(reason ?? '')
  const said = `${verdict}: `
  return sentence.startsWith(said) ? sentence.slice(said.length) : sentence
}

const NOT_HELD = 'better on the metric, but it did not pass the holdout'

/** Where it stands now: the verdict, or what is known and missing before there is one. */
export function renderStateSentence(experiment: ExperimentState): string {
  const { verdict, progress: soFar = null, next = null, putBack = null } = experiment
  const then = next === null ? '' : ` Next: ${next}.`
  if (verdict !== null) return `${renderVerdictSentence(experiment)}${then}`
  if (soFar === null) {
    const why = putBack === null ? '' : `: ${putBack}`
    return `${toSentenceCase(describeVerdict(experiment))}${why}.${then}`
  }
  return `${toSentenceCase(NOT_PROVEN)} yet: ${soFar}${then}`
}

const NOT_PROVEN = 'not proven' satisfies VerdictWord

export function describeWaiting(waiting: PlanWaiting): string {
  switch (waiting.for) {
    case 'orders':
      return `Waiting for ${waiting.orders.length === 1 ? 'a measurement' : `${waiting.orders.length} measurements`}.`
    case 'judges': {
      const failed = waiting.reason === null ? '' : ` The last time: ${waiting.reason}.`
      return `Waiting for models to score ${waiting.orders.length === 1 ? 'a measurement' : `${waiting.orders.length} measurements`}.${failed}`
    }
    case 'proposers':
      return `Waiting for an idea from ${countNames(waiting.who)}.`
    case 'ideas':
      return describeWaitingIdeaSources(waiting.disabled ?? [])
    case 'limit':
      return `Waiting: ${waiting.what}.`
    case 'person':
      return `Waiting for a person: ${waiting.what}`
    case 'nothing':
      return toSentenceCase(withReason('stopped', waiting.reason))
    default:
      return waiting satisfies never
  }
}

/** "claude (2 at once), codex": a proposer that is asked several times at once is named once. */
function countNames(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} at once)`)).join(', ')
}

function describeWaitingIdeaSources(disabled: readonly string[]): string {
  if (disabled.length === 0) return 'Waiting for ideas: nothing is queued and no proposer has one.'
  const [are, them] = disabled.length === 1 ? ['is', 'it'] : ['are', 'them']
  const why = `${disabled.join(', ')} ${are} disabled after failing to produce a usable idea`
  return `Waiting for ideas: nothing is queued, and ${why}. winnow resume asks ${them} again.`
}

export function toSentenceCase(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
