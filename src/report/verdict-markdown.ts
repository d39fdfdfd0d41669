import { listObjectives } from '../decide/metrics.ts'
import { describeEffect, removeMetricName } from '../decide/paired/effect-text.ts'
import { isProgressByPairs } from '../decide/progress.ts'
import { formatCount, formatPercent, formatRounded, formatSize } from '../decide/wording.ts'
import { type Campaign, findLanding } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { describeHarness } from '../model/harness-guard.ts'
import { getOwnValue } from '../model/own-value.ts'
import {
  type FailedOutput,
  type FailedPart,
  getNumber,
  joinStreams,
  type MetricValue,
} from '../model/report.ts'
import { neutralizeReferences, parseReason, toPlainText, toSentenceCase } from '../model/text.ts'
import { isLanded } from '../model/verdict.ts'
import { getCampaignSpec } from '../spec/load.ts'
import type { Spec } from '../spec/schema.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import { DEFAULT_EFFECT, isJudgedMetric } from '../spec/spec-facts.ts'
import { buildRunUrl, type PageUrl } from './github-names.ts'
import { escapeMarkdown, formatCode } from './markdown.ts'
import { formatMetricValue } from './metrics.ts'
import { describeWorseTasks } from './tasks.ts'
import { renderVerdictSentence } from './verdict-text.ts'

// Verdict

export function renderVerdict(campaign: Campaign, experiment: Experiment, page: PageUrl): string {
  const spec = getCampaignSpec(campaign)
  const paragraphs = [
    [renderHeadline(spec, experiment)],
    renderMetricTable(campaign, experiment, spec),
    renderWorseTasks(experiment),
    renderOutputDetails(experiment, spec),
    renderEvidenceFacts(campaign, experiment, { spec, page }),
    renderIsolation(experiment),
  ]
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

/** Example without Markdown: "Kept: 18.9 % less CPU (18.2 to 19.7 %)." */
export function renderPlainVerdict({ metric }: Pick<Spec, 'metric'>, experiment: Experiment): string {
  const { verdict, outcome, reason, status } = experiment
  const why = parseReason(reason ?? '').sentence.replaceAll(' -> ', ' → ')
  const sentence = renderVerdictSentence({
    verdict,
    outcome,
    reason: describeFailedTests(experiment) ?? why,
    stays_open: status === 'not-proven',
  })
  const [, word = '', rest = ''] = /^([^:]*: )?(.*)$/s.exec(sentence) ?? []
  return `${word}${removeMetricName(rest, metric.primary.name)}`
}

/** Example: "2 of 133 tests fail". Returns null unless one gate failed and its test runner prints counts. */
function describeFailedTests({ verdict, failed, reason }: Experiment): string | null {
  if (verdict !== 'broken' || failed === null || !/^gate [^,]+ failed \(exit \d+\)$/.test(reason ?? ''))
    return null
  const tests = countFailedTests(failed.output)
  return tests === null ? null : `${tests.failed} of ${formatCount(tests.total, 'test')} fail`
}

const MAX_SENTENCE_LENGTH = 600

/** Prints the verdict in bold; for kept, refused and broken the whole sentence up to its interval. */
function renderHeadline(spec: Spec, experiment: Experiment): string {
  const sentence = renderPlainVerdict(spec, experiment)
  const { verdict } = experiment
  const isAllBold = verdict === 'kept' || verdict === 'refused' || verdict === 'broken'
  const end = isAllBold ? /(?= \(-?[\d.]+ to |, deterministic)|(?<=\.)(?= [A-Z])|$/ : /(?<=^[^:.]*[:.])|$/
  const at = end.exec(sentence)?.index ?? sentence.length
  const rest = sentence.slice(at).trim()
  const space = rest.startsWith(',') ? '' : ' '
  const tail = rest === '' ? '' : `${space}${escapeMarkdown(rest, MAX_SENTENCE_LENGTH)}`
  return `**${escapeMarkdown(sentence.slice(0, at).trim(), MAX_SENTENCE_LENGTH)}**${tail}${describeBaseResult(experiment)}`
}

/** A command that also fails on the base gives no verdict, so it succeeded there. */
function describeBaseResult(experiment: Experiment): string {
  const { verdict, failed } = experiment
  if (verdict !== 'broken' || failed === null) return ''
  if (describeFailedTests(experiment) !== null) return '. They pass without this change.'
  const what = failed.what.startsWith('gate ') ? 'The gate passes' : `${toSentenceCase(failed.what)} works`
  return `. ${what} without this change.`
}

const MAX_ROWS = 8

/** Shows the objectives, and other metrics that got worse by at least the size of a gain. */
function renderMetricTable(campaign: Campaign, experiment: Experiment, spec: Spec): string[] {
  const { verdict, metrics, base_metrics: before } = experiment
  if (verdict === 'broken' || verdict === 'refused') return []
  const names = listObjectives(spec.metric).map(({ name }) => name)
  // One run of each side says nothing about time and memory.
  const isRunOften = isProgressByPairs(campaign, spec) && !isJudgedMetric(spec)
  const least = getNotableChange(campaign, spec)
  const others = [...BUILT_IN_METRICS].filter(
    name => isRunOften && !names.includes(name) && isWorse(experiment, name, least),
  )
  const rows = [...names, ...others].flatMap(name => {
    const [base = null, candidate = null] = [before, metrics].map(values => getOwnValue(values, name))
    if (base === null && candidate === null) return []
    const change = renderChangeCell(campaign, experiment, name, spec)
    return [
      `| ${formatCode(name)} | ${formatShortValue(base)} | ${formatShortValue(candidate)} | ${change} |`,
    ]
  })
  if (rows.length === 0) return []
  const all = [...rows.slice(0, MAX_ROWS), ...renderTestRows(experiment)]
  return ['| | before | with this change | |', '|---|---|---|---|', ...all]
}

/** A mean hides the tasks that lost. */
function renderWorseTasks({ verdict, tasks }: Experiment): string[] {
  const worse = verdict === 'broken' || verdict === 'refused' ? null : describeWorseTasks(tasks)
  return worse === null ? [] : [`${escapeMarkdown(worse.replaceAll(' -> ', ' → '))}.`]
}

/** Matters where the change is kept: one side could have changed what the other one did. */
function renderIsolation({ verdict, unisolated }: Experiment): string[] {
  return verdict === 'kept' && unisolated !== null
    ? [`${escapeMarkdown(toSentenceCase(unisolated), unisolated.length)}.`]
    : []
}

const MAX_TEST_ROWS = 3

function renderTestRows({ tests, base_tests: before }: Experiment): string[] {
  const text = (count: number | undefined) => (count === undefined ? '' : `${count} passed`)
  const names = [...new Set([...Object.keys(before), ...Object.keys(tests)])]
  return names.slice(0, MAX_TEST_ROWS).map(name => {
    const [base, candidate] = [before, tests].map(counts => getOwnValue(counts, name))
    const more = base === undefined || candidate === undefined ? 0 : candidate - base
    const change = more === 0 ? '' : more > 0 ? `${more} more` : `**${-more} fewer**`
    return `| ${[escapeMarkdown(name), text(base), text(candidate), change].join(' | ')} |`
  })
}

/** As a share: on a linear scale min_effect has the units of the primary. */
function getNotableChange({ calibration }: Campaign, { evidence }: Spec): number {
  const isLinear = (calibration?.scale ?? evidence.scale) === 'linear'
  return (isLinear ? null : evidence.min_effect) ?? DEFAULT_EFFECT
}

function isWorse({ base_metrics, metrics }: Experiment, name: string, least: number): boolean {
  const [base, candidate] = [getNumber(base_metrics, name), getNumber(metrics, name)]
  return base !== null && candidate !== null && base > 0 && candidate / base - 1 >= least
}

/** Uses the pairs for the primary, and the two values for all other metrics. */
function renderChangeCell(campaign: Campaign, experiment: Experiment, name: string, spec: Spec): string {
  const [{ name: primary, direction }] = listObjectives(spec.metric)
  const { primary_delta: delta } = experiment
  if (name === primary && delta !== null && isProgressByPairs(campaign, spec)) {
    const scale = campaign.calibration?.scale ?? 'log'
    const { size, unit, word } = describeEffect(delta, null, { name, direction, scale })
    return `${size}${unit} ${word}`
  }
  const base = getNumber(experiment.base_metrics, name)
  const candidate = getNumber(experiment.metrics, name)
  if (base === null || candidate === null || base === 0) return ''
  return candidate === base ? 'the same' : formatPercent((candidate - base) / Math.abs(base))
}

/** Four digits are enough next to a percentage. Integers stay whole. */
function formatShortValue(value: MetricValue): string {
  const isShort = typeof value !== 'number' || Number.isInteger(value) || Math.abs(value) >= 1000
  return isShort ? formatMetricValue(value) : formatRounded(value, 4)
}

function renderOutputDetails({ failed, verdict }: Experiment, spec: Spec): string[] {
  if (failed === null || verdict === 'kept') return []
  const printed = renderFailedPartMarkdown(failed)
  const command = findFailedCommand(spec, failed.what)
  const what = command === null ? toSentenceCase(failed.what) : `<code>${escapeHtml(command)}</code>`
  if (printed.length === 0) return [`${what} failed and printed nothing.`]
  return [`<details open><summary>${what}, last lines</summary>`, '', ...printed, '', '</details>']
}

function findFailedCommand({ gates, measurement }: Spec, what: string): string | null {
  const gate = gates.find(({ name }) => what === `gate ${name}`)
  return gate?.command ?? (what === 'the harness' ? measurement.command : null)
}

const MAX_COMMAND_LENGTH = 100

/** A summary element is HTML, so Markdown has no effect in it. */
function escapeHtml(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const short = line.length > MAX_COMMAND_LENGTH ? `${line.slice(0, MAX_COMMAND_LENGTH - 1)}…` : line
  return neutralizeReferences(short).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Example: "12 pairs on 2 machines · merged into optimize/speed · measuring run". Omits unknown parts. */
function renderEvidenceFacts(
  campaign: Campaign,
  experiment: Experiment,
  { spec, page }: { spec: Spec; page: PageUrl },
): string[] {
  const { id, measured_in: measured, single_machine, outcome, closed, guard } = experiment
  const facts: string[] = []
  const pairs = measured?.pairs ?? 0
  if (pairs > 0) {
    const where = single_machine ? 'this machine' : formatCount(measured?.machines ?? 1, 'machine')
    const counted = `${formatCount(pairs, 'pair')} of runs on ${where}`
    facts.push(isJudgedMetric(spec) ? formatCount(pairs, 'item') : counted)
    const { noise = null, scale = 'log' } = campaign.calibration ?? {}
    if (noise !== null && noise.pair_sd > 0)
      facts.push(`identical code differs by ${formatSize(noise.pair_sd, scale)} from run to run`)
  }
  if (guard !== null) facts.push(escapeMarkdown(describeHarness(guard)))
  const landing = findLanding(campaign, id)
  if (closed && outcome !== null && isLanded(outcome) && landing !== undefined) {
    const branch = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
    facts.push(`merged into ${formatCode(branch)} as ${landing.commit.slice(0, HASH_LENGTH)}`)
  }
  const url = measured === null ? null : buildRunUrl(page, measured.run)
  if (url !== null) facts.push(`[Measuring run](${url})`)
  return facts.length === 0 ? [] : [toSentenceCase(facts.join(' · '))]
}

// Failed output

const HASH_LENGTH = 7
const MAX_TERMINAL_LINES = 20

/** Shows failing tests first, then the end of both streams. */
function buildOutputSections(
  output: FailedOutput | null | undefined,
  most: number,
): { title: string; lines: string[] }[] {
  if (output == null) return []
  const shown = new Set(output.failing.map(line => line.trim()).filter(line => line !== ''))
  return [
    { title: 'what failed', lines: output.failing },
    { title: 'last lines of stdout', lines: selectLastLines(output.stdout, most, shown) },
    { title: 'last lines of stderr', lines: selectLastLines(output.stderr, most, shown) },
  ].filter(({ lines }) => lines.length > 0)
}

function selectLastLines(text: string, most: number, shown: ReadonlySet<string>): string[] {
  const rest = text.split('\n').filter(line => !shown.has(line.trim()))
  if (rest.every(line => line.trim() === '')) return []
  const lines = rest.join('\n').trimEnd().split('\n')
  return lines.length > most ? ['…', ...lines.slice(-most)] : lines
}

/** For a terminal. States it when a command printed no output, so that the reader does not search for it. */
export function renderFailedPart(failed: FailedPart | null): string[] {
  if (failed === null) return []
  const what = toSentenceCase(failed.what)
  const lines = renderFailedOutput(failed.output)
  return lines.length === 0 ? [`${what} failed and printed nothing.`, ''] : [`${what} failed.`, ...lines, '']
}

export function renderFailedOutput(
  output: FailedOutput | null | undefined,
  most = MAX_TERMINAL_LINES,
): string[] {
  return buildOutputSections(output, most).flatMap(({ title, lines }) => [
    `  ${title}:`,
    ...lines.map(line => `    ${line}`),
  ])
}

const MAX_PULL_LINES = 12

/** For GitHub. The text comes from a candidate's own programs, so it goes into a fence that it cannot close. */
export function renderFailedPartMarkdown(failed: FailedPart | null): string[] {
  const sections = buildOutputSections(failed?.output, MAX_PULL_LINES)
  if (failed === null || sections.length === 0) return []
  const lines = sections.flatMap(({ title, lines: printed }) => [
    `${title}:`,
    ...printed.map(line => `  ${line}`),
  ])
  // winnow's own marks are HTML comments, so a candidate's output must not contain one.
  const text = neutralizeReferences(toPlainText(lines.join('\n'))).replaceAll('<!--', '<! --')
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(ticks => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}text`, text, fence]
}

// Failed tests

/** Summary lines of test runners: `failed` with either `total` or `passed`. */
const RUNNERS: readonly RegExp[] = [
  // vitest: "Tests  2 failed | 131 passed (133)"
  /^\s*Tests\s+(?<failed>\d+) failed.*\((?<total>\d+)\)\s*$/m,
  // jest: "Tests:       2 failed, 131 passed, 133 total"
  /^\s*Tests:\s+(?<failed>\d+) failed,.*\b(?<total>\d+) total\s*$/m,
  // node:test, TAP and spec: "# tests 133" … "# fail 2"
  /^[#ℹ] tests (?<total>\d+)$[^]*^[#ℹ] fail (?<failed>\d+)$/m,
  // cargo: "test result: FAILED. 131 passed; 2 failed; …"
  /^test result: FAILED\. (?<passed>\d+) passed; (?<failed>\d+) failed;/m,
  // pytest: "=== 2 failed, 131 passed in 0.12s ==="
  /^=* ?(?<failed>\d+) failed(?:, (?<passed>\d+) passed)?\b.* in [\d.]+s/m,
  // mocha: "131 passing (12ms)" … "2 failing"
  /^\s*(?<passed>\d+) passing\b[^]*^\s*(?<failed>\d+) failing$/m,
]

export function countFailedTests(output: FailedOutput | null): { failed: number; total: number } | null {
  const text = joinStreams(output ?? undefined)
  for (const runner of RUNNERS) {
    const groups = runner.exec(text)?.groups
    if (groups === undefined) continue
    const failed = Number(groups['failed'])
    const total = Number(groups['total'] ?? failed + Number(groups['passed'] ?? 0))
    if (failed > 0 && failed <= total && Number.isSafeInteger(total)) return { failed, total }
  }
  return null
}
