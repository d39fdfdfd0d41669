import { effectWords, withoutMetricName } from '../decide/paired/effect-text.ts'
import type { Progress } from '../decide/progress.ts'
import { numberText, plural } from '../decide/wording.ts'
import { awaitedText } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { oneLine } from '../model/landing.ts'
import { shortRef } from '../model/refs.ts'
import { NO_MACHINE } from '../model/no-machine.ts'
import { type CampaignPullState, campaignPullMark, UNMERGED } from '../model/campaign-pull.ts'
import { syncRefused } from '../model/sync-refused.ts'
import { unlinked } from '../model/unlinked.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import { keptPackagesMarkdown } from './approval-text.ts'
import { describeStatus } from '../model/describe-status.ts'
import { campaignProgress } from './campaign-result.ts'
import { fromStartToNow } from './chart-data.ts'
import { minutesText, moneyText } from './cost-text.ts'
import { findPersonalTasks, type PersonalTask } from './needs-a-person.ts'
import { cell, code, withRoom } from './markdown.ts'
import { chartUrl, type Page } from './page-links.ts'
import { effectPhrase } from './reported-effect.ts'
import { capitalised } from './sentence.ts'
import { keptExperiments } from './taken-back.ts'
import { plainVerdict } from './verdict-markdown.ts'
import { wayOnText } from './way-on.ts'

const TITLE = 120
const REASON = 600

/** The campaign's own pull request, for the person who decides whether the default branch takes it. */
export function campaignPullTitle(campaign: Campaign): string {
  const total = totalOf(campaign)
  const changes = plural(keptExperiments(campaign).length, 'change')
  const said = total === null ? changes : `${total.title}, ${changes}`
  return unlinked(oneLine(`optimize(${campaign.name}): ${said}`, TITLE))
}

/** What is at the end, and says how to finish, has to be there whatever was kept. */
const KEPT_ROOM = 24_000
const LOST_ROOM = 14_000
const WAITING_ROOM = 5_000

export function campaignPullBody(
  campaign: Campaign,
  page: Page = null,
  state: CampaignPullState = UNMERGED,
): string {
  const spec = specOf(campaign)
  const chart = chartUrl(page, campaign)
  const { merged } = state
  const parts = [
    // First: whatever of it is cut off, that is not.
    [campaignPullMark(campaign, state), ...headLines(campaign)],
    chart === null ? [] : [`![${cell(spec.metric.primary.name)} over experiments](${chart})`],
    keptTable(campaign, state),
    needsYou(campaign, state),
    keptPackagesMarkdown(campaign).slice(1),
    merged ? mergedLines(campaign, spec) : finishLines(campaign, spec),
    lostDetails(campaign, spec),
  ]
  return `${parts
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')}\n`
}

interface Total {
  /** "82 % less CPU", for a title. */
  title: string
  /** "82.4 % less CPU", with the metric's name where that does not say it. */
  phrase: string
  /** "81.6 to 83.1 %"; null where none is known. */
  range: string | null
  note: string | null
}

/** What everything that was kept comes to; null where nothing is known of it. */
function totalOf(campaign: Campaign): Total | null {
  const progress = campaignProgress(campaign)
  switch (progress.is) {
    case 'nothing kept':
      return null
    case 'not measured':
      return estimated(progress)
    case 'numbers':
      return inWords(progress, { ...progress, interval: null, note: missingNote(progress.missing) })
    case 'tested':
      return inWords(progress, { ...progress, note: missingNote(progress.missing) })
    case 'composed': {
      const note = `Each kept change was measured on its own. winnow measures all of them together before the campaign stops.`
      const missing = missingNote(progress.missing)
      return inWords(progress, { ...progress, note: missing === null ? note : `${note} ${missing}` })
    }
    default:
      return progress satisfies never
  }
}

interface Measured {
  effect: number
  scale: 'log' | 'linear'
  interval: [number, number] | null
  note: string | null
}

function inWords(
  { metric: name, direction }: Pick<Progress, 'metric' | 'direction'>,
  { effect, scale, interval, note }: Measured,
  about: '' | 'about ' = '',
): Total {
  const { size, unit, word, range } = effectWords(effect, interval, { name, direction, scale })
  const named = (amount: string) => withoutMetricName(`${name} ${about}${amount}${unit} ${word}`, name)
  const whole = Math.abs(Number(size)) >= 10 ? String(Math.round(Number(size))) : size
  return {
    title: named(unit === ' %' ? whole : size),
    phrase: named(size),
    range: range === null ? null : `${range[0]} to ${range[1]}${unit}`,
    note,
  }
}

/** Right after a change was kept: the sum of what the changes were kept by, until their effect is measured. */
function estimated(progress: Extract<Progress, { is: 'not measured' }>): Total | null {
  const { decided: effect, scale } = progress
  if (effect === null) return null
  const note =
    'Estimated from the measurements that decided on each change. winnow measures the effect again with the next ideas and updates this text.'
  return inWords(progress, { effect, scale, interval: null, note }, 'about ')
}

function missingNote(missing: readonly string[]): string | null {
  if (missing.length === 0) return null
  return `Not in this number yet: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}.`
}

function headLines(campaign: Campaign): string[] {
  const total = totalOf(campaign)
  const range = total?.range == null ? '' : ` (${cell(total.range)})`
  const kept = keptExperiments(campaign).length
  const head =
    total === null
      ? `### ${kept === 0 ? 'Nothing is kept at the moment' : `${plural(kept, 'change')} kept`}`
      : `### ${cell(total.phrase.replace(/^about /, 'About '))} than at the start${range}`
  const note = total?.note ?? null
  return [head, factsLine(campaign), ...(note === null ? [] : ['', note])]
}

/** The metric then and now, how many ideas were kept, what it cost, and the state, in one line. */
function factsLine(campaign: Campaign): string {
  const { experiments } = campaign
  const progress = campaignProgress(campaign)
  const change = fromStartToNow(campaign, progress)
  const ideas = Object.values(experiments).filter(({ purpose }) => purpose !== 'revert').length
  const facts = [
    ...(change === null
      ? []
      : [`${code(progress.metric)} ${shortNumber(change.from)} → ${shortNumber(change.to)}`]),
    `${keptExperiments(campaign).length} of ${plural(ideas, 'idea')} kept`,
    campaign.host === 'github' ? minutesText(campaign) : `${minutesText(campaign)} of measuring`,
    ...moneyText(campaign),
    cell(describeStatus(campaign), REASON),
  ]
  return facts.join(' · ')
}

/** Three digits beside a percentage; whole numbers stay whole. */
function shortNumber(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return numberText(value)
  return numberText(Number(value.toPrecision(3)))
}

/** Once all of it is merged, no change is offered on its own. */
function keptTable(campaign: Campaign, state: CampaignPullState): string[] {
  const rows = keptExperiments(campaign).map(experiment => {
    const effect = cell(effectPhrase(campaign, experiment) ?? '')
    const alone = state.merged ? [] : [aloneText(campaign, experiment, state)]
    return `| ${[placeOf(experiment, state), cell(experiment.hypothesis), effect, ...alone].join(' | ')} |`
  })
  if (rows.length === 0) return []
  const more = (left: number) => `\n… and ${left} more: \`winnow status\` lists all of them.`
  const head = state.merged
    ? ['| | change | effect |', '|---|---|---|']
    : ['| | change | effect | on its own |', '|---|---|---|---|']
  return [...head, ...withRoom(rows, KEPT_ROOM, more)]
}

/** The command that offers one change by itself, or what came of that. */
function aloneText({ picks }: Campaign, { id }: Experiment, state: CampaignPullState): string {
  const last = Object.values(picks).findLast(each => each.picks === id)
  const ask = `\`/winnow pick ${id}\``
  if (last === undefined) return ask
  const place = placeOf(last, state)
  if (last.fate === 'merged') return `${place}, merged`
  const found = last.verdict === null ? 'being measured' : last.verdict
  return last.closed ? `${ask} (${place}: ${found}, closed)` : `${place}: ${found}`
}

/** Everything that waits for a person, each with what to do about it. */
function needsYou(campaign: Campaign, state: CampaignPullState): string[] {
  const refused = syncRefused(campaign)
  const items = [
    ...findPersonalTasks(campaign).map(task => taskItem(task, state)),
    ...waitingRuns(campaign),
    ...(refused === null ? [] : [`${refused.sentences.map(text => cell(text, REASON)).join('. ')}.`]),
  ]
  if (items.length === 0) return []
  if (items.length === 1) return [`**Needs you:** ${items.join('')}`]
  const lines = items.map(item => `- ${item}`)
  return ['**Needs you:**', '', ...withRoom(lines, WAITING_ROOM, left => `- and ${left} more`)]
}

function taskItem({ experiment, is, awaits, help }: PersonalTask, state: CampaignPullState): string {
  const place = placeOf(experiment, state)
  switch (is) {
    case 'approval':
      return `${place} adds ${cell(awaitedText(experiment))}. Review and approve it there to have it measured.`
    case 'permission':
      return `${place} is from a person without write access. Read it, then comment \`${help}\` there to have it measured.`
    case 'sync':
      return `${place} is waiting for ${cell(awaits)}. What helps: ${cell(help, 400)}.`
    default:
      return is satisfies never
  }
}

/** Only while an order is still expected from that run. */
function waitingRuns({ alerts, orders }: Campaign): string[] {
  const expected = new Set(
    Object.values(orders).map(({ run_id, report }) => (report === null ? run_id : null)),
  )
  return alerts
    .filter(({ code, about }) => code === NO_MACHINE && about !== null && expected.has(about))
    .map(({ message }) => `${cell(capitalised(message), 400)}.`)
}

function placeOf(
  { id, pull }: Pick<Experiment, 'id' | 'pull'>,
  { pulls }: CampaignPullState = UNMERGED,
): string {
  const number = pull ?? pulls[id]
  return number === undefined ? id : `#${number}`
}

function finishLines(campaign: Campaign, { merge }: Spec): string[] {
  const { status, default_branch } = campaign
  const into = cell(shortRef(default_branch))
  const way = wayOnText(campaign)
  const merging = merge.on_merge === 'restart' ? 'begins the next campaign' : 'ends the campaign'
  const grows =
    status === 'stopped'
      ? `The campaign has stopped, so nothing more is added${way === null ? '' : `. To go on, ${cell(way, 400)}`}.`
      : `winnow adds every change that it keeps to this pull request. Merging it ${merging}, closing it pauses the campaign, and the comment \`/winnow stop\` ends the campaign without merging.`
  return [
    `Merge this pull request to take all of it into ${into}. To merge a single change, post the command next to it: winnow measures it on its own and opens a separate pull request.`,
    '',
    grows,
    '',
    'Every commit was measured before it landed; `winnow audit` verifies that from git alone. If checks of this repository do not start here, use *Approve workflows to run*: GitHub holds back the checks of pull requests that a job opened.',
  ]
}

function mergedLines(campaign: Campaign, { merge }: Spec): string[] {
  const into = cell(shortRef(campaign.default_branch))
  const next = merge.on_merge === 'restart' ? ' The next campaign begins by itself.' : ''
  const way = wayOnText(campaign)
  return [
    `Merged into ${into}.${next}${way === null ? '' : ` To go on, ${cell(way, 400)}.`}`,
    '',
    'Every commit was measured before it landed; `winnow audit` verifies that from git alone.',
  ]
}

/** Ideas that have ended and are not on the branch, each with its verdict. */
function lostDetails(campaign: Campaign, spec: Spec): string[] {
  const kept = new Set(keptExperiments(campaign).map(({ id }) => id))
  const lost = Object.values(campaign.experiments).filter(
    ({ id, status, purpose }) =>
      (status === 'ended' || status === 'parked') && purpose !== 'revert' && !kept.has(id),
  )
  if (lost.length === 0) return []
  const rows = lost.map(
    experiment =>
      `| ${placeOf(experiment)} | ${cell(experiment.hypothesis)} | ${cell(plainVerdict(spec, experiment))} |`,
  )
  const more = (left: number) => `\n… and ${left} more: \`winnow status\` lists all of them.`
  return [
    `<details><summary>${plural(lost.length, 'idea')} not kept</summary>`,
    '',
    '| | idea | verdict |',
    '|---|---|---|',
    ...withRoom(rows, LOST_ROOM, more),
    '',
    '</details>',
  ]
}
