import type { Check } from '../forge/port.ts'
import { awaitedText } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import { oneLine } from '../model/landing.ts'
import type { VerdictWord } from '../model/outcome.ts'
import { awaitsPermission, permissionText } from '../model/permission.ts'
import { reasonOf } from '../model/reason.ts'
import { standsStill } from '../model/standstill.ts'
import { describeStatus } from '../model/describe-status.ts'
import { cell } from './markdown.ts'
import type { Page } from './page-links.ts'
import { AWAITS_SYNC, syncMarkdown, syncWordsOf } from './sync-text.ts'
import { plainVerdict, verdictMarkdown } from './verdict-markdown.ts'
import { specOf } from '../spec/recorded-spec.ts'

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
export function checkOf(campaign: Campaign, experiment: Experiment, page: Page = null): Check | null {
  const { id, head } = experiment
  if (head === null) return null
  return { name: `winnow (${campaign.name})`, head, id, ...stateOf(campaign, experiment, page) }
}

/** Ends the check of a commit that a newer one replaced. */
export function leftCheck({ name }: Pick<Campaign, 'name'>, id: ExperimentId, head: Oid): Check {
  const title = 'Replaced by a newer commit'
  return { name: `winnow (${name})`, head, id, state: 'neutral', title, summary: `${id}: ${title}.` }
}

type State = Pick<Check, 'state' | 'title' | 'summary' | 'annotations'>

function stateOf(campaign: Campaign, experiment: Experiment, page: Page): State {
  const { status, verdict, reason, refused_path: path, refused_line: line } = experiment
  if (status === 'deferred') {
    const what = `Waiting for approval of ${awaitedText(experiment)}`
    return { state: 'neutral', title: oneLine(what, TITLE), summary: `${cell(what)}.` }
  }
  if (awaitsPermission(experiment)) {
    const title = 'Waiting for permission to be measured'
    return { state: 'neutral', title, summary: `${title}: \`${permissionText(experiment)}\`` }
  }
  const words = syncWordsOf(campaign, experiment)
  if (words !== null)
    return { state: 'neutral', title: `Waiting for ${AWAITS_SYNC}`, summary: syncMarkdown(words) }
  if (verdict !== null && (status === 'ended' || status === 'parked' || status === 'landing')) {
    const { sentence } = reasonOf(reason ?? '')
    const title = oneLine(plainVerdict(specOf(campaign), experiment), TITLE)
    const summary = verdictMarkdown(campaign, experiment, page)
    const said = { state: CONCLUSIONS[verdict], title, summary }
    return path === null
      ? said
      : { ...said, annotations: [{ path, line: line ?? 1, message: oneLine(sentence, 400) }] }
  }
  if (status === 'ended')
    return { state: 'neutral', title: 'Closed', summary: verdictMarkdown(campaign, experiment, page) }
  if (standsStill(campaign, experiment)) {
    const summary = `Campaign ${cell(campaign.name)} is ${cell(describeStatus(campaign), REASON)}. It goes on by itself when the campaign does.`
    return { state: 'neutral', title: `Waiting: the campaign is ${campaign.status}`, summary }
  }
  return {
    state: 'in-progress',
    title: 'Being measured',
    summary: `Measuring in campaign ${cell(campaign.name)}: ${cell(experiment.hypothesis)}`,
  }
}
