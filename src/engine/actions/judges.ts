import { type HandedItems, type HandedScores, limitItems, readScoresFile } from '../../judge/handed-on.ts'
import { getJudgedKey } from '../../judge/record.ts'
import type { PendingJudging } from '../../model/asked.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { ScoreRecord } from '../../model/score-record.ts'
import type { JudgesFacts, JudgedScores } from '../../plan/world.ts'
import type { JobFile } from '../../measure/handed-file.ts'
import type { CampaignContext } from '../place.ts'
import type { FindLost } from './run-lookup.ts'
import type { ScoresToAsk, UnscoredOrders } from './scored-order.ts'

export interface JudgesOptions {
  /** A job of the same run asks models after this one. */
  mayJudge: boolean
  /** What such a job left; null where it had nothing to do. */
  scores: JobFile | null
  /** Askings whose run has ended. */
  findLost: FindLost
}

/** Found after the runs were looked at: what a score is of is known from what those printed. */
export interface JudgesReader {
  facts(campaign: Campaign): Promise<JudgesFacts>
}

type ReadScores = HandedScores['judgings'][number]

/**
 * What the job that asked models handed over, for the askings of this very run and for no others, as with the answers of
 * proposers. A score is taken of what was to be scored, on the scale of the rubric, and of nothing else.
 */
export function createJudgesReader(
  place: Pick<CampaignContext, 'by' | 'progress'>,
  runner: Pick<UnscoredOrders, 'due'>,
  { mayJudge: follow, scores, findLost }: JudgesOptions,
): JudgesReader {
  const told = new Set<string>()
  const read = scores === null ? null : readScoresFile(scores)

  function tell(line: string): void {
    if (!told.has(line)) place.progress.say(line)
    told.add(line)
  }

  function givenFor(campaign: Campaign, given: NonNullable<typeof read>): ReadScores[] | string {
    if ('unusable' in given) return given.unusable
    const { campaign: name, started } = given
    if (name === campaign.name && started === campaign.started) return given.judgings
    return `the scores are for campaign ${name.slice(0, 100)}`
  }

  return {
    async facts(campaign) {
      const lost = await findLost(Object.values(campaign.judging))
      const untold = lost.map(({ asking: { key }, reason }) => ({ key, reason }))
      const facts: JudgesFacts = { hasJudgeJob: follow, scores: [], lost: untold }
      if (read === null) return facts
      const own = listOpenJudgings(place, campaign)
      if (own.length === 0) return facts
      const given = givenFor(campaign, read)
      for (const asking of own) {
        const found = typeof given === 'string' ? given : matchScores(asking, given, runner.due(asking.order))
        if (typeof found !== 'string') facts.scores.push(found)
        else {
          facts.lost.push({ key: asking.key, reason: found })
          tell(`Order ${asking.order.slice(0, 12)}: no scores are taken, ${found}.`)
        }
      }
      return facts
    },
  }
}

/** Askings of this run that nobody has answered. */
export function listOpenJudgings(
  { by }: Pick<CampaignContext, 'by'>,
  { judging }: Campaign,
): PendingJudging[] {
  return Object.values(judging).filter(({ run_id }) => run_id === by.run_id)
}

function matchScores(
  asking: PendingJudging,
  given: readonly ReadScores[],
  due: ScoresToAsk | null,
): JudgedScores | string {
  const one = given.find(({ key }) => key === asking.key)
  if (one === undefined) return 'its job gave none'
  if (one.order !== asking.order) return `they are of order ${one.order.slice(0, 12)}`
  // Nobody waits for it any more: what it cost is recorded all the same.
  if (due === null) return { ...one, records: [] }
  const wrong = one.records.find(record => !isRequestedScore(record, due))
  return wrong === undefined ? one : `one is not what was asked for: ${getJudgedKey(wrong).slice(0, 200)}`
}

function isRequestedScore(record: ScoreRecord, { due: { rubric }, batches }: ScoresToAsk): boolean {
  const { judge, item, side, scores } = record
  const shown = batches.some(
    batch => batch.judge === judge && batch.entries.some(entry => entry.item === item && entry.side === side),
  )
  if (!shown) return false
  if (scores === null) return true
  const fields = [rubric.primary, ...rubric.others]
  const names = Object.keys(scores)
  if (names.length !== fields.length || !fields.every(field => names.includes(field))) return false
  const score = scores[rubric.primary]
  const [lowest, highest] = rubric.scale
  return typeof score === 'number' && score >= lowest && score <= highest
}

/** What the job that follows in this run has models score; null where it has nothing to do. */
export function listItemsToJudge(
  place: Pick<CampaignContext, 'by'>,
  campaign: Campaign,
  runner: Pick<UnscoredOrders, 'printed'>,
): HandedItems | null {
  const orders = listOpenJudgings(place, campaign).flatMap(({ key, order }) => {
    const printed = runner.printed(order)
    return printed === null ? [] : [{ key, order, printed }]
  })
  if (orders.length === 0) return null
  const { name, started } = campaign
  return limitItems({ winnow: 1, campaign: name, started, orders })
}
