import type { Campaign } from '../model/campaign.ts'
import { renderLandingMessage, buildLandingMessage, toOneLine } from '../model/landing.ts'
import { toShortRef } from '../model/refs.ts'
import type { PlanAction } from '../plan/action.ts'
import type { ApplyResult, ControllerContext } from './apply.ts'
import { recordEvents } from './record.ts'

const REFUSED = 'merge-refused'

/**
 * Asks the forge for the merge of what was decided to be kept. Whatever it answers is looked at anew: only what
 * lies on the branch counts, so an answer that was lost loses nothing (invariant 7).
 */
export async function askForMerge(
  { place, memory }: Pick<ControllerContext, 'place' | 'memory'>,
  campaign: Campaign,
  { number, experiment: id }: Extract<PlanAction, { do: 'merge' }>,
): Promise<ApplyResult> {
  const experiment = campaign.experiments[id]
  const head = experiment?.head ?? null
  if (!campaign.landing || !experiment || head === null || !place.forge.merge) return { result: 'done' }
  const words = buildLandingMessage(campaign, { ...campaign.landing, experiment }, number)
  const [title = '', ...message] = renderLandingMessage(words).split('\n')
  const answer = await place.forge.merge(number, { head, title, message: message.join('\n').trim() })
  memory.refs = null
  if (answer.ok) return { result: 'done' }
  const where = `#${number} (${id}) into ${toShortRef(place.refs.optimize)}`
  const said = toOneLine(answer.message, 600)
  if (answer.why === 'moved') return { result: 'held', what: `GitHub did not merge ${where}: ${said}` }
  const told = `GitHub does not merge ${where}: ${said} The next tick asks again.`
  const about = `${id}: ${said}`
  if (!campaign.alerts.some(alert => alert.code === REFUSED && alert.about === about))
    await recordEvents(place, [{ kind: 'alert', code: REFUSED, message: told, about }])
  return { result: 'held', what: told }
}
