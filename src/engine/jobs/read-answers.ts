import { type GivenAnswer, givenAnswerSchema } from '../../ideas/answers-file.ts'
import { mergeBacklogIdea, toIdea, toLearnings } from '../../ideas/idea-block.ts'
import { type AnswerHeads, getAnsweredHead } from '../../ideas/stored-answers.ts'
import { selectRubric } from '../../judge/ask-judges.ts'
import { getJudgedKey } from '../../judge/evidence.ts'
import { type GivenScores, givenScoresSchema, type ItemsToJudge } from '../../judge/judged-report.ts'
import type { Campaign, PendingJudging, PendingProposal, ProposalResult } from '../../model/campaign.ts'
import type { ScoreRecord } from '../../model/event-schemas.ts'
import { listPendingProposals } from '../../model/fold/proposers.ts'
import { fitEntries, type JobFile, MAX_FILE_BYTES } from '../../model/job-file.ts'
import { NO_COST } from '../../plan/money.ts'
import type { AnswerFacts, JobFacts, JudgedScores } from '../../plan/world.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { explainEndedRun, getJobRunId, readJobEntries, type ReadRun, type RunRole } from './github-runs.ts'
import type { ScoresToAsk, UnscoredOrders } from './judging.ts'

type AnswerContext = Pick<CampaignContext, 'by' | 'clock' | 'progress' | 'repository'>
type RequestFacts = Pick<JobFacts, 'answers' | 'scores' | 'lost'>

export interface AnswerReader {
  read(campaign: Campaign): Promise<RequestFacts>
  /** Proposers answered in this run, and none had an idea. */
  readonly hadNoIdea: boolean
}

interface PendingRequest {
  key: string
  run_id: string
}

/**
 * Reads what the propose job and the judge job of this run left. The ledger lists the requests of this run, so that no
 * answer counts twice (invariant 7) and none counts without a request. A request is lost when its run has ended, or
 * when its answer is missing or wrong.
 */
export function createAnswerReader(
  context: AnswerContext,
  unscored: UnscoredOrders,
  { role, lookAt }: { role: RunRole; lookAt: ReadRun },
): AnswerReader {
  const heads: AnswerHeads = new Map()
  const reported = new Set<string>()
  let files: ReturnType<typeof fetchFiles> | null = null
  let hasAnswer = false
  let hasIdea = false

  function reportOnce(line: string): void {
    if (!reported.has(line)) context.progress.say(line)
    reported.add(line)
  }

  /** `accept` returns the reason why an answer is wrong. */
  async function readAnswers<R extends PendingRequest, A extends PendingAnswer, F extends object>(
    { pending, entries }: { pending: readonly R[]; entries: A[] | { unusable: string } | null },
    accept: (request: R, answer: A) => F | LostRequest | Promise<F | LostRequest>,
  ): Promise<{ found: F[]; lost: JobFacts['lost'] }> {
    const found: F[] = []
    const lost: JobFacts['lost'] = []
    for (const request of pending) {
      const { key, run_id } = request
      if (run_id !== context.by.run_id) {
        const reason = await explainEndedRun(run_id, lookAt)
        if (reason !== null) lost.push({ key, reason })
      } else if (entries !== null) {
        const result = await acceptEntry(entries, request, accept)
        if (!isLostRequest(result)) found.push(result)
        else {
          const loss = typeof result === 'string' ? { reason: result } : result
          lost.push({ key, ...loss })
          reportOnce(`Lost the answer to ${key}: ${loss.reason}`)
        }
      }
    }
    return { found, lost }
  }

  return {
    get hadNoIdea() {
      return hasAnswer && !hasIdea
    },
    async read(campaign) {
      const given = await (files ??= fetchFiles(context, role))
      const proposals = { pending: listPendingProposals(campaign), entries: given.answers }
      const ideas = await readAnswers(proposals, async (request, answer) => {
        const accepted = await acceptIdea(context, { campaign, heads }, request, answer)
        if (isLostRequest(accepted)) return accepted
        reportOnce(`${request.who}: ${accepted.note}`)
        return accepted.facts
      })
      hasAnswer ||= ideas.found.length > 0
      hasIdea ||= ideas.found.some(({ ok }) => ok)
      const judgings = { pending: Object.values(campaign.judging), entries: given.scores }
      const scores = await readAnswers<PendingJudging, GivenScores, JudgedScores>(
        judgings,
        (request, answer) => acceptScores(request, answer, unscored.get(request.order)),
      )
      return { answers: ideas.found, scores: scores.found, lost: [...ideas.lost, ...scores.lost] }
    },
  }
}

async function fetchFiles(context: Pick<CampaignContext, 'by'>, role: RunRole) {
  if (role.does !== 'settle') return { answers: null, scores: null }
  const { ended, artifacts } = role
  const run = getJobRunId(context)
  const answers = { content: 'answers', run, entry: givenAnswerSchema } as const
  const scores = { content: 'scores', run, entry: givenScoresSchema } as const
  return {
    answers: await readJobEntries(artifacts, ended.proposed, answers),
    scores: await readJobEntries(artifacts, ended.judged, scores),
  }
}

type PendingAnswer = GivenAnswer | GivenScores

/** Why there is no answer; with its cost, where that is known. */
type LostRequest = string | Omit<JobFacts['lost'][number], 'key'>

function isLostRequest(result: object | string): result is LostRequest {
  return typeof result === 'string' || 'reason' in result
}

async function acceptEntry<R extends PendingRequest, A extends PendingAnswer, F>(
  left: A[] | { unusable: string },
  request: R,
  accept: (request: R, answer: A) => F | LostRequest | Promise<F | LostRequest>,
): Promise<F | LostRequest> {
  if ('unusable' in left) return left.unusable
  const answer = left.find(({ key }) => key === request.key)
  return answer === undefined ? 'its job gave no answer' : accept(request, answer)
}

// Ideas

async function acceptIdea(
  { repository, clock }: AnswerContext,
  { campaign, heads }: { campaign: Campaign; heads: AnswerHeads },
  request: PendingProposal,
  answer: GivenAnswer,
): Promise<{ facts: AnswerFacts; note: string } | LostRequest> {
  const { key, who, base, asked_at } = request
  if (answer.who !== who) return `the answer is from ${answer.who.slice(0, 100)}`
  if (answer.ok && answer.base !== base.commit) return `the answer changes ${answer.base}, not ${base.commit}`
  const sinceRequest = Math.max(0, (clock.now() - Date.parse(asked_at)) / 60_000)
  const spent = answer.cost === undefined ? {} : { cost: answer.cost }
  const facts = { key, who, minutes: Math.min(answer.minutes, sinceRequest), ...spent }
  if (!answer.ok && answer.unasked) return { reason: answer.reason, cost: answer.cost ?? NO_COST }
  if (!answer.ok) return { facts: { ...facts, ok: false }, note: `no idea: ${answer.reason}` }
  const result = toProposedIdea(campaign, request.carries, answer)
  const head = await getAnsweredHead(repository, { request, result }, heads)
  if ('rejected' in head) return { facts: { ...facts, ok: false }, note: `no idea: ${head.rejected}` }
  return { facts: { ...facts, ok: true, result }, note: 'one idea' }
}

/** Cleans and limits the texts like those of a local proposer. */
function toProposedIdea(
  { backlog }: Campaign,
  carries: string | null,
  answer: Extract<GivenAnswer, { ok: true }>,
): ProposalResult {
  const { patch, learnings, who, hypothesis, category, priority, required_deps, family } = answer
  const proposed = toIdea({ hypothesis, category, priority, required_deps, family }, `an idea of ${who}`)
  const written = backlog.find(({ id }) => id === carries) ?? null
  return { ...mergeBacklogIdea(written, proposed), learnings: toLearnings(learnings), patch }
}

// Scores

/** Returns the items for the judge job of this run; null when it has no work. */
export function listItemsToJudge(
  context: Pick<CampaignContext, 'by'>,
  { judging }: Campaign,
  unscored: UnscoredOrders,
): JobFile<ItemsToJudge> | null {
  const own = Object.values(judging).filter(({ run_id }) => run_id === context.by.run_id)
  const entries = own.flatMap(({ key, order }) => {
    const found = unscored.get(order)
    return found === undefined ? [] : [{ key, order, printed: found.printed }]
  })
  if (entries.length === 0) return null
  return { run: getJobRunId(context), entries: fitEntries(entries, MAX_FILE_BYTES.items, () => null) }
}

/** Accepts a score only for an item that was to be scored, on the scale of the rubric. */
function acceptScores(
  { order }: PendingJudging,
  given: GivenScores,
  due: ScoresToAsk | undefined,
): JudgedScores | string {
  if (given.order !== order) return `the scores are of order ${given.order.slice(0, 12)}`
  // No order waits for these scores any more; their cost is still recorded.
  if (due === undefined) return { ...given, records: [] }
  const wrong = given.records.find(record => !isRequestedScore(record, due))
  return wrong === undefined ? given : `a score was not requested: ${getJudgedKey(wrong).slice(0, 200)}`
}

function isRequestedScore(record: ScoreRecord, { due, batches }: ScoresToAsk): boolean {
  const { judge, item, side, scores, feedback } = record
  const batch = batches.find(
    each => each.judge === judge && each.entries.some(entry => entry.item === item && entry.side === side),
  )
  if (batch === undefined) return false
  if (scores === null) return feedback === undefined
  const { primary, others, scale, asksFeedback } = selectRubric(due, batch)
  if (feedback !== undefined && !asksFeedback) return false
  const fields = [primary, ...others]
  const names = Object.keys(scores)
  if (names.length !== fields.length || !fields.every(field => names.includes(field))) return false
  const score = scores[primary]
  const [lowest, highest] = scale
  return typeof score === 'number' && score >= lowest && score <= highest
}
