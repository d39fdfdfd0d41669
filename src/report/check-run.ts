import type { Check } from '../forge/port.ts'
import { describeAwaitedPackages } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import { toOneLine } from '../model/landing.ts'
import type { VerdictWord } from '../model/outcome.ts'
import { isAwaitingPermission, formatPermissionCommand } from '../model/permission.ts'
import { parseReason } from '../model/reason.ts'
import { isPausedExperiment } from '../model/standstill.ts'
import { describeStatus } from '../model/describe-status.ts'
import { escapeMarkdown } from './markdown.ts'
import type { PageUrl } from './page-links.ts'
import { AWAITS_SYNC, renderSyncMarkdown, findSyncWords } from './sync-text.ts'
import { renderPlainVerdict, renderVerdict } from './verdict-markdown.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'

/** Losing is nobody's fault: only what must not be merged as it is shows red. */
const CONCLUSIONS: Record<VerdictWord, 'success' | 'neutral' | 'failure'> = {
  kept: 'success',
  'no gain': 'neutral',
  worse: 'neutral',
  'not proven': 'neutral',
  refused: 'failure',
  broken: 'failure',
}

const TITLE = 120
const REASON = 600

/** How an experiment's head stands, beside it; null where it has none. */
export function buildCheckRun(
  campaign: Campaign,
  experiment: Experiment,
  page: PageUrl = null,
): Check | null {
  const { id, head } = experiment
  if (head === null) return null
  return { name: `winnow (${campaign.name})`, head, id, ...buildCheckState(campaign, experiment, page) }
}

/** Ends the check of a commit that a newer one replaced. */
export function buildReplacedCheck({ name }: Pick<Campaign, 'name'>, id: ExperimentId, head: Oid): Check {
  const title = 'Replaced by a newer commit'
  return { name: `winnow (${name})`, head, id, state: 'neutral', title, summary: `${id}: ${title}.` }
}

type CheckState = Pick<Check, 'state' | 'title' | 'summary' | 'annotations'>

function buildCheckState(campaign: Campaign, experiment: Experiment, page: PageUrl): CheckState {
  const { status, verdict, reason, refused_path: path, refused_line: line } = experiment
  if (status === 'deferred') {
    const what = `Waiting for approval of ${describeAwaitedPackages(experiment)}`
    return { state: 'neutral', title: toOneLine(what, TITLE), summary: `${escapeMarkdown(what)}.` }
  }
  if (isAwaitingPermission(experiment)) {
    const title = 'Waiting for permission to be measured'
    return { state: 'neutral', title, summary: `${title}: \`${formatPermissionCommand(experiment)}\`` }
  }
  const words = findSyncWords(campaign, experiment)
  if (words !== null)
    return { state: 'neutral', title: `Waiting for ${AWAITS_SYNC}`, summary: renderSyncMarkdown(words) }
  if (verdict !== null && (status === 'ended' || status === 'parked' || status === 'landing')) {
    const { sentence } = parseReason(reason ?? '')
    const title = toOneLine(renderPlainVerdict(getCampaignSpec(campaign), experiment), TITLE)
    const summary = renderVerdict(campaign, experiment, page)
    const said = { state: CONCLUSIONS[verdict], title, summary }
    return path === null
      ? said
      : { ...said, annotations: [{ path, line: line ?? 1, message: toOneLine(sentence, 400) }] }
  }
  if (status === 'ended')
    return { state: 'neutral', title: 'Closed', summary: renderVerdict(campaign, experiment, page) }
  if (isPausedExperiment(campaign, experiment)) {
    const summary = `Campaign ${escapeMarkdown(campaign.name)} is ${escapeMarkdown(describeStatus(campaign), REASON)}. It goes on by itself when the campaign does.`
    return { state: 'neutral', title: `Waiting: the campaign is ${campaign.status}`, summary }
  }
  return {
    state: 'in-progress',
    title: 'Being measured',
    summary: `Measuring in campaign ${escapeMarkdown(campaign.name)}: ${escapeMarkdown(experiment.hypothesis)}`,
  }
}
