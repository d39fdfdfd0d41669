import { ConflictError, ForgeError, isRefusal } from '../../errors.ts'
import type { ForgeAnswer, ForgeChange } from '../../github/port.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Check } from '../../model/github.ts'
import type { Plan } from '../../plan/action.ts'
import { buildCheckRun, buildReplacedCheck } from '../../report/check-run.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import { type CampaignContext, type Memory, requireForge } from '../campaign/context.ts'
import type { Observation } from '../observe/observe.ts'
import { comparePulls, formatCheckContent, type PullDifference, renderDesiredPulls } from './desired-pulls.ts'
import { reportRefusal } from './record.ts'

interface GithubContext {
  context: CampaignContext
  memory: Memory
}

/**
 * Writes what differs between GitHub and what it should show. Returns false if nothing was left to write. A
 * write is tried once for each state of the ledger, also when GitHub refused it or does not show it yet. While
 * the plan still has work to do, only opens pull requests: an experiment may end with that work.
 */
export async function updateGithub(
  controller: GithubContext,
  { world, loaded }: Observation,
  { obstacle }: Plan,
  isSettled: boolean,
): Promise<boolean> {
  const { context, memory } = controller
  if (context.forge === null) return false
  const all = renderDesiredPulls({ world, obstacle: obstacle ?? null, page: context.forge.page ?? null })
  const desired = isSettled ? all : all.filter(({ pull }) => pull === null)
  const { tip } = loaded
  if (memory.written.tip !== tip.commit) memory.written = { tip: tip.commit, keys: new Set() }
  const { keys } = memory.written
  const due = comparePulls(desired, memory.checks).filter(each => !keys.has(JSON.stringify(each)))
  if (due.length === 0) return false
  for (const each of due) keys.add(JSON.stringify(each))
  context.faults.reach('before:github')
  await writeDifferences(controller, due)
  context.faults.reach('after:github')
  return true
}

async function writeDifferences(
  controller: GithubContext,
  differences: readonly PullDifference[],
): Promise<void> {
  for (const { check } of differences) if (check !== null) await writeCheck(controller, check)
  const changes = differences.flatMap(each => each.changes)
  if (changes.length === 0) return
  try {
    await applyForgeChanges(controller, changes)
  } catch (error) {
    if (!isRefusal(error)) throw error
    reportRefusal(controller, error)
  }
}

async function applyForgeChanges(controller: GithubContext, changes: readonly ForgeChange[]): Promise<void> {
  const answers = await requireForge(controller.context).batch(changes)
  for (const answer of answers) if (!answer.ok) reportAnswer(controller, answer)
}

/** These codes mean that no change is left to make. */
const SETTLED: ReadonlySet<string> = new Set(['duplicate', 'merged', 'nothing-new'])

function reportAnswer(controller: GithubContext, answer: Extract<ForgeAnswer, { ok: false }>): void {
  const { code, message } = answer
  if (SETTLED.has(code)) return
  if (code === 'refused') return reportRefusal(controller, answer.error)
  if (code === 'no-branch' || code === 'no-base') throw new ConflictError(message, [])
  throw new ForgeError(message)
}

/** A token without permission for checks stops no campaign: the pull requests carry the verdicts as well. */
async function writeCheck({ context, memory }: GithubContext, check: Check): Promise<void> {
  memory.checks.set(check.id, formatCheckContent(check))
  for (let attempt = 1; ; attempt++) {
    try {
      return await requireForge(context).check(check)
    } catch (error) {
      if (!isRefusal(error)) throw error
      // Without a permission rule in the refusal, it may be temporary: try a second time.
      if (attempt === 1 && error.detail.rule === undefined) continue
      const why = `${error.message} (the token needs checks: write)`
      return context.progress.say(`${check.id} has no check: ${why}`)
    }
  }
}

/** No later observation finds these heads: another head replaced them, or they were withdrawn or landed. */
export async function completeLeftChecks(
  controller: GithubContext,
  campaign: Campaign,
  events: readonly LedgerEvent[],
): Promise<void> {
  const { forge } = controller.context
  if (forge === null) return
  for (const event of events) {
    const check = buildLeftCheck(campaign, event, forge.page ?? null)
    if (check === null) continue
    await writeCheck(controller, check)
    if (event.kind === 'head-moved') controller.memory.checks.delete(check.id)
  }
}

function buildLeftCheck(campaign: Campaign, event: LedgerEvent, page: string | null): Check | null {
  if (event.kind === 'head-moved' && event.from !== null)
    return buildReplacedCheck(campaign, event.experiment, event.from)
  const isQuietLanding = event.kind === 'merged' && getCampaignSpec(campaign).report.comment === 'never'
  const isWithdrawal = event.kind === 'closed' && event.outcome === 'withdrawn'
  if (!isQuietLanding && !isWithdrawal) return null
  const experiment = campaign.experiments[event.experiment]
  return experiment === undefined ? null : buildCheckRun(campaign, experiment, page)
}
