import { type Answers, type GivenAnswer, readAnswersFile } from '../../ideas/answers-file.ts'
import { mergeBacklogIdea, toIdea, toLearnings } from '../../ideas/idea-block.ts'
import { type AnswerHeads, getAnsweredHead } from '../../ideas/stored-answers.ts'
import type { JobFile } from '../../measure/job-file.ts'
import type { Campaign, PendingProposal, ProposalResult } from '../../model/campaign.ts'
import { listPendingProposals } from '../../model/fold/proposers.ts'
import type { AnswerFacts, World } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import type { IdeaSource } from '../campaign/ideas.ts'
import { TaskGroup, type WorkerSlots } from './worker-slots.ts'

/** Proposers that this process runs. A later observation finds their answers. */
export interface ProposerTasks {
  readonly where: World['asks']
  /** Names of the running proposers, once for each request. */
  readonly asked: string[]
  /** Returns `asked`; throws the error of a failed proposer once. */
  facts(): string[]
  begin(who: string, request: { campaign: Campaign; spec: Spec }): void
  readonly busy: boolean
  /** Resolves when one proposer has answered; immediately when none runs. */
  settled(): Promise<void>
  /** Resolves when no proposer runs any more. */
  finished(): Promise<void>
  /** Ends all proposers. Resolves when none of their processes is left. */
  close(): Promise<void>
}

/**
 * Proposers share worker slots with measurements: they never run beside a timed order, and never more than
 * allowed.
 */
export function createLocalProposerTasks(
  context: CampaignContext,
  ideas: IdeaSource,
  slots: WorkerSlots,
  interrupt: AbortSignal,
): ProposerTasks {
  const tasks = new TaskGroup()
  const names = new Map<string, string>()
  let count = 0

  async function ask(who: string, request: { campaign: Campaign; spec: Spec }, signal: AbortSignal) {
    // Run alone as a separate user, because ending an execution ends every process of its user.
    const isExclusive = context.isolation?.asRoot === true
    const slot = await slots.enter(
      { limit: request.spec.execution.max_concurrent, alone: isExclusive },
      signal,
    )
    if (slot === null) return
    try {
      const { ok, reason } = await ideas.ask(who, { ...request, slot, signal })
      context.progress.say(ok ? `${who}: one idea` : `${who}: no idea, ${reason}`)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      slots.leave(slot)
    }
  }

  return {
    where: 'here',
    get asked() {
      return tasks.keys.flatMap(key => names.get(key) ?? [])
    },
    facts() {
      tasks.surface()
      return this.asked
    },
    begin(who, request) {
      count += 1
      const key = String(count)
      const asked = (signal: AbortSignal) => ask(who, request, AbortSignal.any([signal, interrupt]))
      names.set(key, who)
      tasks.begin(key, signal => asked(signal).finally(() => names.delete(key)))
    },
    get busy() {
      return tasks.busy
    },
    settled: () => tasks.settled(),
    finished: () => tasks.finished(),
    close: () => tasks.close(),
  }
}

/** A process that holds a token starts no program: separate jobs ask proposers, or a later tick does. */
export function createRemoteProposerTasks(where: 'elsewhere' | 'later'): ProposerTasks {
  return {
    where,
    asked: [],
    facts: () => [],
    begin: who => {
      throw new Error(`${who} is to be asked by a process that asks nobody`)
    },
    busy: false,
    settled: async () => {},
    finished: async () => {},
    close: async () => {},
  }
}

type GivenIdea = Extract<GivenAnswer, { ok: true }>
type TakenAnswers = { answers: AnswerFacts[]; unanswered: World['unanswered'] }
interface AnswerReader {
  readAnswers(campaign: Campaign): Promise<TakenAnswers>
}

/**
 * Reads the answers of the proposing job for the requests of this run only. The ledger lists those requests,
 * so that no answer counts twice (invariant 7) and none counts without a request.
 */
export function createAnswerReader(context: CampaignContext, file: JobFile): AnswerReader {
  const heads: AnswerHeads = new Map()
  const reported = new Set<string>()
  const read = readAnswersFile(file)

  function reportOnce(line: string): void {
    if (!reported.has(line)) context.progress.say(line)
    reported.add(line)
  }

  /** Returns the answers for this campaign, or the reason why there are none. */
  function selectAnswers(campaign: Campaign): GivenAnswer[] | string {
    if ('unusable' in read) return read.unusable
    return isOfCampaign(campaign, read)
      ? read.answers
      : `the answers are for campaign ${read.campaign.slice(0, 100)}`
  }

  async function takeAnswer(
    campaign: Campaign,
    asking: PendingProposal,
    answer: GivenAnswer | undefined,
  ): Promise<TakenAnswers> {
    const { key, who } = asking
    const wrong = answer === undefined ? 'its job gave no answer' : explainMismatch(asking, answer)
    if (answer === undefined || wrong !== null) {
      reportOnce(`${who}: not taken, ${wrong}`)
      return { answers: [], unanswered: [{ key, reason: wrong ?? '' }] }
    }
    const minutes = Math.min(answer.minutes, countMinutes(asking, context.clock.now()))
    const facts = { key, who, minutes }
    if (!answer.ok) {
      reportOnce(`${who}: no idea, ${answer.reason}`)
      return { answers: [{ ...facts, ok: false }], unanswered: [] }
    }
    const idea = toProposedIdea(campaign, asking.carries, answer)
    const head = await getAnsweredHead(context.repository, { asking, brought: idea }, heads)
    if ('rejected' in head) {
      reportOnce(`${who}: no idea, ${head.rejected}`)
      return { answers: [{ ...facts, ok: false }], unanswered: [] }
    }
    reportOnce(`${who}: one idea`)
    return { answers: [{ ...facts, ok: true, result: idea }], unanswered: [] }
  }

  return {
    async readAnswers(campaign) {
      const own = listPendingProposals(campaign).filter(({ run_id }) => run_id === context.by.run_id)
      const given = selectAnswers(campaign)
      if (typeof given === 'string' && own.length === 0) return { answers: [], unanswered: [] }
      if (typeof given === 'string') {
        reportOnce(`No answer is taken for ${campaign.name}: ${given}.`)
        return { answers: [], unanswered: own.map(({ key }) => ({ key, reason: given })) }
      }
      for (const { key } of given)
        if (!own.some(asking => asking.key === key) && !reported.has(key))
          reportOnce(`An answer is not taken: this run has no open asking ${key.slice(0, 100)}.`)
      const all = await Promise.all(
        own.map(asking =>
          takeAnswer(
            campaign,
            asking,
            given.find(({ key }) => key === asking.key),
          ),
        ),
      )
      for (const { key } of own) reported.add(key)
      return {
        answers: all.flatMap(({ answers }) => answers),
        unanswered: all.flatMap(({ unanswered }) => unanswered),
      }
    },
  }
}

function isOfCampaign(campaign: Campaign, { campaign: name, started }: Answers): boolean {
  return name === campaign.name && started === campaign.started
}

function explainMismatch({ who, base }: PendingProposal, answer: GivenAnswer): string | null {
  if (answer.who !== who) return `its answer says that it is of ${answer.who.slice(0, 100)}`
  if (answer.ok && answer.base !== base.commit) return `its answer changes ${answer.base}, not ${base.commit}`
  return null
}

/** Limits reported minutes to the time since the request. */
function countMinutes({ asked_at }: PendingProposal, now: number): number {
  return Math.max(0, (now - Date.parse(asked_at)) / 60_000)
}

/** Cleans and limits the texts like those of a local proposer. */
function toProposedIdea({ backlog }: Campaign, carries: string | null, answer: GivenIdea): ProposalResult {
  const { patch, learnings, who, hypothesis, category, priority, required_deps, family } = answer
  const proposed = toIdea({ hypothesis, category, priority, required_deps, family }, `an idea of ${who}`)
  const written = backlog.find(({ id }) => id === carries) ?? null
  return { ...mergeBacklogIdea(written, proposed), learnings: toLearnings(learnings), patch }
}
