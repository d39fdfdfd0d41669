import { sizeText } from '../decide/noise-text.ts'
import { objectivesOf } from '../decide/objectives.ts'
import { effectWords, withoutMetricName } from '../decide/paired/effect-text.ts'
import { isByPairs } from '../decide/progress.ts'
import { percentText, plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isLanded } from '../model/outcome.ts'
import { reasonOf } from '../model/reason.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import { type MetricValue, numberIn } from '../model/report.ts'
import { mentionless } from '../model/unlinked.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import { isJudged } from '../spec/judged.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import { failedPartMarkdown } from './failed-output-text.ts'
import { countFailedTests } from './failed-tests.ts'
import { cell, code } from './markdown.ts'
import { valueText } from './metrics-text.ts'
import { type Page, runUrl } from './page-links.ts'
import { capitalised, verdictSentence } from './sentence.ts'

/** A verdict as GitHub shows it: the sentence, both sides' numbers, the output of what failed, what it rests on. */
export function verdictMarkdown(campaign: Campaign, experiment: Experiment, page: Page): string {
  const spec = specOf(campaign)
  const paragraphs = [
    [headline(spec, experiment)],
    metricTable(campaign, experiment, spec),
    outputDetails(experiment, spec),
    evidenceFacts(campaign, experiment, { spec, page }),
  ]
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

/** The verdict sentence without Markdown: "Kept: 18.9 % less CPU (18.2 to 19.7 %)." */
export function plainVerdict({ metric }: Pick<Spec, 'metric'>, experiment: Experiment): string {
  const { verdict, outcome, reason, status } = experiment
  const why = reasonOf(reason ?? '').sentence.replaceAll(' -> ', ' → ')
  const sentence = verdictSentence({
    verdict,
    outcome,
    reason: failedTestsText(experiment) ?? why,
    parked: status === 'parked',
  })
  const [, word = '', rest = ''] = /^([^:]*: )?(.*)$/s.exec(sentence) ?? []
  return `${word}${withoutMetricName(rest, metric.primary.name)}`
}

/** "2 of 133 tests fail", where one gate failed and its test runner says so. */
function failedTestsText({ verdict, failed, reason }: Experiment): string | null {
  if (verdict !== 'broken' || failed === null || !/^gate [^,]+ failed \(exit \d+\)$/.test(reason ?? ''))
    return null
  const tests = countFailedTests(failed.output)
  return tests === null ? null : `${tests.failed} of ${plural(tests.total, 'test')} fail`
}

const LONGEST = 600

/** Bold is the verdict; for what is kept, refused or broken the whole sentence up to its interval. */
function headline(spec: Spec, experiment: Experiment): string {
  const sentence = plainVerdict(spec, experiment)
  const { verdict } = experiment
  const whole = verdict === 'kept' || verdict === 'refused' || verdict === 'broken'
  const end = whole ? /(?= \(-?[\d.]+ to |, deterministic)|(?<=\.)(?= [A-Z])|$/ : /(?<=^[^:.]*[:.])|$/
  const at = end.exec(sentence)?.index ?? sentence.length
  const rest = sentence.slice(at).trim()
  const space = rest.startsWith(',') ? '' : ' '
  const tail = rest === '' ? '' : `${space}${cell(rest, LONGEST)}`
  return `**${cell(sentence.slice(0, at).trim(), LONGEST)}**${tail}${worksWithout(experiment)}`
}

/** A part that fails on the base as well is nobody's verdict: here it worked there. */
function worksWithout(experiment: Experiment): string {
  const { verdict, failed } = experiment
  if (verdict !== 'broken' || failed === null) return ''
  if (failedTestsText(experiment) !== null) return '. They pass without this change.'
  const what = failed.what.startsWith('gate ') ? 'The gate passes' : `${capitalised(failed.what)} works`
  return `. ${what} without this change.`
}

const MOST_ROWS = 8

/** The objectives, and what else got worse by as much as would count as a gain. */
function metricTable(campaign: Campaign, experiment: Experiment, spec: Spec): string[] {
  const { verdict, metrics, base_metrics: before } = experiment
  if (verdict === 'broken' || verdict === 'refused') return []
  const names = objectivesOf(spec.metric).map(({ name }) => name)
  // A single run of each side says nothing of time and memory.
  const others = [...BUILT_IN_METRICS].filter(
    name => isByPairs(campaign, spec) && !names.includes(name) && isWorse(before, metrics, { name, spec }),
  )
  const rows = [...names, ...others].flatMap(name => {
    const [base = null, candidate = null] = [before[name], metrics[name]]
    if (base === null && candidate === null) return []
    const change = changeCell(campaign, experiment, { name, spec })
    return [`| ${code(name)} | ${shortValue(base)} | ${shortValue(candidate)} | ${change} |`]
  })
  if (rows.length === 0) return []
  const all = [...rows.slice(0, MOST_ROWS), ...testRows(experiment)]
  return ['| | before | with this change | |', '|---|---|---|---|', ...all]
}

const MOST_TEST_ROWS = 3

/** A row for each gate whose test runner prints how many tests passed. */
function testRows({ tests, base_tests: before }: Experiment): string[] {
  const text = (count: number | undefined) => (count === undefined ? '' : `${count} passed`)
  const names = [...new Set([...Object.keys(before), ...Object.keys(tests)])]
  return names.slice(0, MOST_TEST_ROWS).map(name => {
    const [base, candidate] = [before[name], tests[name]]
    const more = base === undefined || candidate === undefined ? 0 : candidate - base
    const change = more === 0 ? '' : more > 0 ? `${more} more` : `**${-more} fewer**`
    return `| ${[cell(name), text(base), text(candidate), change].join(' | ')} |`
  })
}

const WORTH_SAYING = 0.02

function isWorse(
  before: Experiment['metrics'],
  after: Experiment['metrics'],
  { name, spec }: { name: string; spec: Spec },
): boolean {
  const [base, candidate] = [numberIn(before, name), numberIn(after, name)]
  const least = spec.evidence.min_effect ?? WORTH_SAYING
  return base !== null && candidate !== null && base > 0 && candidate / base - 1 >= least
}

/** The primary by what its pairs show; everything else by the values that stand beside it. */
function changeCell(
  campaign: Campaign,
  experiment: Experiment,
  { name, spec }: { name: string; spec: Spec },
): string {
  const [{ name: primary, direction }] = objectivesOf(spec.metric)
  const { primary_delta: delta } = experiment
  if (name === primary && delta !== null && isByPairs(campaign, spec)) {
    const scale = campaign.calibration?.scale ?? 'log'
    const { size, unit, word } = effectWords(delta, null, { name, direction, scale })
    return `${size}${unit} ${word}`
  }
  const base = numberIn(experiment.base_metrics, name)
  const candidate = numberIn(experiment.metrics, name)
  if (base === null || candidate === null || base === 0) return ''
  return candidate === base ? 'the same' : percentText((candidate - base) / Math.abs(base))
}

/** Four digits say it beside a percentage; whole numbers stay whole. */
function shortValue(value: MetricValue): string {
  if (typeof value !== 'number' || Number.isInteger(value) || Math.abs(value) >= 1000) return valueText(value)
  return valueText(Number(value.toPrecision(4)))
}

/** The output of a failed command, for an author who cannot see the machine it ran on. */
function outputDetails({ failed, verdict }: Experiment, spec: Spec): string[] {
  if (failed === null || verdict === 'kept') return []
  const printed = failedPartMarkdown(failed)
  const command = commandOf(spec, failed.what)
  const what = command === null ? capitalised(failed.what) : `<code>${htmlText(command)}</code>`
  if (printed.length === 0) return [`${what} failed and printed nothing.`]
  return [`<details open><summary>${what}, last lines</summary>`, '', ...printed, '', '</details>']
}

function commandOf({ gates, measurement }: Spec, what: string): string | null {
  const gate = gates.find(({ name }) => what === `gate ${name}`)
  return gate?.command ?? (what === 'the harness' ? measurement.command : null)
}

const COMMAND = 100

/** A summary is HTML, in which Markdown means nothing. */
function htmlText(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const short = line.length > COMMAND ? `${line.slice(0, COMMAND - 1)}…` : line
  return mentionless(short).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** "12 pairs on 2 machines · merged into optimize/speed · measuring run", as far as each is known. */
function evidenceFacts(
  campaign: Campaign,
  experiment: Experiment,
  { spec, page }: { spec: Spec; page: Page },
): string[] {
  const { id, measured_in: measured, single_machine, outcome, closed } = experiment
  const facts: string[] = []
  const pairs = measured?.pairs ?? 0
  if (pairs > 0) {
    const where = single_machine ? 'this machine' : plural(measured?.machines ?? 1, 'machine')
    facts.push(isJudged(spec) ? plural(pairs, 'item') : `${plural(pairs, 'pair')} of runs on ${where}`)
    const noise = campaign.calibration?.noise ?? null
    if (noise !== null && noise.pair_sd > 0 && campaign.calibration !== null)
      facts.push(
        `equal code differs by ${sizeText(noise.pair_sd, campaign.calibration.scale)} from run to run`,
      )
  }
  const landing = campaign.landings.find(({ experiment: of, reverted }) => of === id && reverted === null)
  if (closed && outcome !== null && isLanded(outcome) && landing !== undefined) {
    const branch = shortRef(campaignRefs(spec.branches.prefix, campaign.name).optimize)
    facts.push(`merged into ${code(branch)} as ${landing.commit.slice(0, SHOWN)}`)
  }
  const url = measured === null ? null : runUrl(page, measured.run)
  if (url !== null) facts.push(`[Measuring run](${url})`)
  return facts.length === 0 ? [] : [capitalised(facts.join(' · '))]
}

const SHOWN = 7
