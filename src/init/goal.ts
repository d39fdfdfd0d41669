import { findJudgedSubject, JUDGED_SUBJECTS, type JudgedSubject } from './judged.ts'
import type { PrintedMetric } from './project.ts'

/** The metrics that init can draft. */
const METRICS = {
  wall_seconds: { name: 'time', specName: 'speed', direction: 'minimize', quantity: 'seconds' },
  cpu_seconds: { name: 'processor time', specName: 'cpu', direction: 'minimize', quantity: 'seconds' },
  max_rss_mb: { name: 'memory', specName: 'memory', direction: 'minimize', quantity: 'bytes' },
  bytes: { name: 'size', specName: 'size', direction: 'minimize', quantity: 'bytes' },
  coverage: { name: 'test coverage', specName: 'coverage', direction: 'maximize', quantity: 'share' },
  accuracy: { name: 'accuracy', specName: 'accuracy', direction: 'maximize', quantity: 'share' },
  throughput: {
    name: 'throughput',
    specName: 'throughput',
    direction: 'maximize',
    quantity: 'per second',
  },
} as const
type HardMetric = keyof typeof METRICS

type HardAim = { kind: 'hard'; metric: HardMetric; direction: PrintedMetric['direction'] }
type Aim = HardAim | { kind: 'judge' }

export interface Goal {
  words: string
  /** Null: the goal names no measurable quality. */
  aim: Aim | null
  target: GoalTarget | null
  /** Words that may name a part of the code. */
  subjects: string[]
  /** Further aims. A campaign pursues only one. */
  also: string[]
  notUnderstood: string[]
  /** What is judged, if anything is: which items, levels and gates suit it. */
  subject: JudgedSubject
  /** A hard metric that the goal names beside a judged quality. It is logged. */
  beside: HardMetric | null
  /** Why the number that the goal names can mislead. Null: it measures what the goal asks for. */
  proxy: string | null
  isStartup: boolean
}

interface GoalRule {
  metric: HardMetric | 'quality'
  pattern: RegExp
  /** The word may also name the subject of the code. Counts only where no other rule matches. */
  weak?: true
}

const RULES: readonly GoalRule[] = [
  { metric: 'max_rss_mb', pattern: /\b(?:memory|ram|rss|heap|leaks?)\b/ },
  { metric: 'cpu_seconds', pattern: /\b(?:cpu|processor|energy|compute)\b/ },
  {
    metric: 'bytes',
    pattern: /\b(?:size|smaller|bundle|bytes|kilobytes|footprint|lighter|slimmer|shrink)\b/,
  },
  { metric: 'coverage', pattern: /\bcoverage\b/ },
  {
    metric: 'accuracy',
    pattern: /\b(?:accura(?:cy|te)|precision|recall|f1|error rate|correct answers)\b/,
  },
  { metric: 'throughput', pattern: /\b(?:throughput|requests? per|per second|rps|qps|ops)\b/ },
  {
    metric: 'wall_seconds',
    pattern:
      /\b(?:fast(?:er|est)?|speed(?:\s?up)?|slow(?:er|ness)?|quick(?:er|ly)?|latency|time|startup|performance|perf)\b/,
  },
  {
    metric: 'quality',
    pattern:
      /\b(?:friendl(?:y|ier)|clear(?:er)?|readab(?:le|ility)|nicer?|helpful|understandable|wording|tone|beautiful|simpler|explain\w*|better looking|polite)\b/,
  },
  ...JUDGED_SUBJECTS.map(({ pattern }) => ({ metric: 'quality' as const, weak: true as const, pattern })),
  {
    metric: 'quality',
    weak: true,
    pattern:
      /\b(?:copy(?:writing)?|ux|ui|quality|answers?|messages?|documentation|prompts?|skills?|instructions?|style|design)\b/,
  },
]

function toAim(metric: HardMetric): HardAim {
  return { kind: 'hard', metric, direction: METRICS[metric].direction }
}

const JUDGED_QUALITY = 'quality as people judge it'

/** These words ask for quality also beside a number. Others, such as "messages", may only name the code. */
const JUDGED_WORDS =
  /\b(?:friendl(?:y|ier)|clearer|readab(?:le|ility)|nicer|helpful|understandable|beautiful|better looking|polite)\b/

/** Matches words against a table, without a model. The first match is the aim. */
export function readGoal(words: string): Goal {
  const text = words.toLowerCase()
  const all = RULES.filter(({ pattern }) => pattern.test(text)).toSorted(
    (a, b) => text.search(a.pattern) - text.search(b.pattern),
  )
  const strong = all.filter(({ weak }) => weak === undefined)
  const matched = strong.length > 0 ? strong : all.slice(0, 1)
  const judged = JUDGED_WORDS.test(text) ? matched.find(({ metric }) => metric === 'quality') : undefined
  const first = judged ?? matched[0]
  const rest = matched.filter(rule => rule !== first)
  const aim = selectAim(text, first)
  const [besideMetric] =
    judged === undefined ? [] : rest.flatMap(({ metric }) => (metric === 'quality' ? [] : metric))
  const beside = besideMetric ?? null
  const subject = findJudgedSubject(text)
  const target = aim === null ? null : parseTarget(text, aim)
  const relative = /\b(?:twice|half|double|\d+(?:\.\d+)?\s?(?:%|percent|times|x))(?!\w)/.exec(text)?.[0]
  return {
    words,
    aim,
    target,
    subjects: extractSubjects(text, matched),
    also: rest.flatMap(({ metric }) =>
      metric === beside ? [] : metric === 'quality' ? JUDGED_QUALITY : METRICS[metric].name,
    ),
    notUnderstood: [
      ...(relative === undefined ? [] : [`"${relative}": a target is a number of the metric, not a share`]),
      ...(aim === null ? ['what is to be measured'] : []),
    ],
    subject,
    beside,
    proxy: aim?.kind === 'hard' ? findProxy(aim.metric, all.some(({ weak }) => weak) ? subject : null) : null,
    isStartup: /\b(?:start(?:up|s|ing)?|load(?:s|ing)?|import(?:s|ing)?|cold start|boot\w*)\b/.test(text),
  }
}

/** An unknown goal is judged if its words ask for a judgement and for no number. */
function selectAim(text: string, rule: GoalRule | undefined): Aim | null {
  if (rule !== undefined) return rule.metric === 'quality' ? { kind: 'judge' } : toAim(rule.metric)
  return findBoundedAim(text) ?? (classifyGoal(text) === 'judged' ? { kind: 'judge' } : null)
}

/** A number that stands for a quality can be raised without it. */
function findProxy(metric: HardMetric, subject: JudgedSubject | null): string | null {
  if (metric === 'coverage') return 'a line that a test runs is not a line that it checks'
  return metric === 'bytes' && subject !== null ? subject.proxy : null
}

/** Guesses the kind of an unknown goal by its words: to count, to judge, or either. */
export function classifyGoal(words: string): 'hard' | 'judged' | 'both' {
  const text = words.toLowerCase()
  const counts =
    /\d|%|\b(?:rate|ratio|count|number|fewer|less|more|reduce|increase|lower|raise|errors?|failures?|cost|loss|score|lines|calls|queries|allocations?|tokens?)\b/
  const judges =
    /\b(?:better|good|great|improve\w*|text|words?|content|look\w*|feel\w*|experience|useful|natural|tone|image|output|results?)\b/
  if (counts.test(text)) return judges.test(text) ? 'both' : 'hard'
  return judges.test(text) &&
    !/^\W*(?:make|do)? ?(?:it|this|everything)? ?(?:good|better|great)\W*$/.test(text)
    ? 'judged'
    : 'both'
}

/** "parsing under 200 ms" names no quality, but its unit implies one. */
function findBoundedAim(text: string): Aim | null {
  const found = [toAim('wall_seconds'), toAim('throughput')].find(aim => {
    const target = parseTarget(text, aim)
    return target !== null && !/\d\s*$/.test(target.words)
  })
  return found ?? null
}

export function describeAim(aim: Aim): string {
  if (aim.kind === 'judge') return `${JUDGED_QUALITY} (a judged metric)`
  return `${METRICS[aim.metric].name}: ${aim.direction} ${aim.metric}`
}

/** Null: winnow does not measure it itself, so a spec cannot log it before the harness prints it. */
export function getLoggedMetric({
  beside,
}: Goal): { name: HardMetric; direction: PrintedMetric['direction'] } | null {
  const measured = beside === 'wall_seconds' || beside === 'cpu_seconds' || beside === 'max_rss_mb'
  return measured ? { name: beside, direction: METRICS[beside].direction } : null
}

/** The part of a spec's name that tells its goal. */
export function getAimName({ aim }: Goal): string {
  if (aim === null) return METRICS.wall_seconds.specName
  return aim.kind === 'judge' ? 'quality' : METRICS[aim.metric].specName
}

// Sources that a goal names

const COMMON = new Set(
  'the a an and or of for to in on with our my make makes it its be is are all less more use uses using should faster better than under below over above at least most get this that code when please reduce improve increase lower raise project'.split(
    ' ',
  ),
)

function extractSubjects(text: string, matched: readonly GoalRule[]): string[] {
  const words = text.match(/[a-z][\w.-]{2,}/g) ?? []
  return words.filter(word => !COMMON.has(word) && !matched.some(({ pattern }) => pattern.test(word)))
}

/** Finds sources whose names contain one of the words. `parser` also matches `parse.js`. */
export function findNamedSources(paths: readonly string[], subjects: readonly string[]): string[] {
  const stems = subjects.map(removeSuffix).filter(each => each.length >= 3)
  return paths.filter(path =>
    path
      .toLowerCase()
      .split(/[/._-]/)
      .some(part => stems.includes(removeSuffix(part))),
  )
}

function removeSuffix(word: string): string {
  return word.replace(/(?:ing|ers?|ors?|s|e)$/, '')
}

// Targets and units

type Quantity = 'seconds' | 'bytes' | 'share' | 'per second'

/** Parsed from words such as "under 200 ms". The value is converted once the unit of the metric is known. */
interface GoalTarget {
  quantity: Quantity
  /** In seconds, bytes, percent or per second. */
  value: number
  /** The goal is to stay below the value. False: to exceed it. */
  below: boolean
  words: string
}

/** A number may have separators of thousands. One with a decimal comma is not read, rather than wrongly. */
const BOUND =
  /\b(under|below|less than|at most|within|over|above|more than|at least)\s+(\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![,._]*\d)\s?([a-zµ%]*)/
const BELOW = new Set(['under', 'below', 'less than', 'at most', 'within'])

const UNITS: Readonly<Record<string, { quantity: Quantity; factor: number }>> = {
  ...buildUnits('seconds', { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, min: 60 }),
  ...buildUnits('seconds', { nanoseconds: 1e-9, microseconds: 1e-6, milliseconds: 1e-3, millisecond: 1e-3 }),
  ...buildUnits('seconds', { sec: 1, second: 1, seconds: 1, minute: 60, minutes: 60 }),
  ...buildUnits('bytes', { b: 1, byte: 1, bytes: 1, kb: 1e3, kib: 1024, mb: 1e6, mib: 2 ** 20, gb: 1e9 }),
  ...buildUnits('bytes', { gib: 2 ** 30, kilobytes: 1e3, megabytes: 1e6 }),
  ...buildUnits('share', { '%': 1, percent: 1 }),
  ...buildUnits('per second', { rps: 1, qps: 1, ops: 1, requests: 1 }),
}

function buildUnits(quantity: Quantity, factors: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(factors).map(([unit, factor]) => [unit, { quantity, factor }]))
}

/** Null: no target, or its unit does not belong to the aim. */
function parseTarget(text: string, aim: Aim): GoalTarget | null {
  const [words, bound = '', number = '', unit = ''] = BOUND.exec(text) ?? []
  if (words === undefined || aim.kind !== 'hard') return null
  const { quantity } = METRICS[aim.metric]
  const isBare = unit === '' && (quantity === 'share' || quantity === 'per second')
  const unitOfNumber = isBare ? { quantity, factor: 1 } : UNITS[unit]
  const below = BELOW.has(bound)
  if (unitOfNumber?.quantity !== quantity || below !== (aim.direction === 'minimize')) return null
  return {
    quantity,
    value: roundToPrecision(Number(number.replaceAll(/[,_]/g, '')) * unitOfNumber.factor),
    below,
    words,
  }
}

const TIME_UNITS: readonly { pattern: RegExp; seconds: number }[] = [
  { pattern: /(?:^|_)(?:ns|nanos(?:econds?)?)(?:_|$)|Ns$|[nN]anos(?:econds)?$/, seconds: 1e-9 },
  { pattern: /(?:^|_)(?:us|micros(?:econds?)?)(?:_|$)|Us$|[mM]icros(?:econds)?$/, seconds: 1e-6 },
  { pattern: /(?:^|_)(?:ms|millis(?:econds?)?)(?:_|$)|Ms$|[mM]illis(?:econds)?$/, seconds: 1e-3 },
  { pattern: /(?:^|_)(?:s|secs?|seconds?)$|[a-z]Sec(?:onds|s)?$/, seconds: 1 },
]
const RATE = /(?:^|_)(?:ops|hz|rps|qps|requests|throughput|per_s(?:ec(?:ond)?)?)(?:_|$)|perSec|opsPer/i
const SIZE_UNITS: readonly { pattern: RegExp; bytes: number }[] = [
  { pattern: /(?:^|_)(?:bytes|size)(?:_|$)/i, bytes: 1 },
  { pattern: /(?:^|_)(?:kb|kilobytes)(?:_|$)/i, bytes: 1e3 },
  { pattern: /(?:^|_)(?:mb|megabytes)(?:_|$)/i, bytes: 1e6 },
]
const NO_TIME = /bytes|size|memory|rss|(?:^|_)[km]i?b(?:_|$)|coverage|accuracy|count|loss|items/i

/** Converts one unit of the metric to seconds. Null: the name does not denote a time. */
function getSecondsPerUnit(metric: string): number | null {
  if (RATE.test(metric)) return null
  return TIME_UNITS.find(({ pattern }) => pattern.test(metric))?.seconds ?? null
}

export function isRate(metric: string): boolean {
  return RATE.test(metric)
}

export function isNotSpeed(metric: string): boolean {
  return NO_TIME.test(metric) && getSecondsPerUnit(metric) === null && !isRate(metric)
}

/** Converts the target to the unit of the primary metric. Null: that unit is unknown. */
export function convertTarget(
  { quantity, value, below }: GoalTarget,
  { name, direction }: PrintedMetric,
): number | null {
  if (below !== (direction === 'minimize')) return null
  switch (quantity) {
    case 'seconds': {
      const seconds = getSecondsPerUnit(name)
      return seconds === null ? null : roundToPrecision(value / seconds)
    }
    case 'bytes': {
      const bytes = SIZE_UNITS.find(({ pattern }) => pattern.test(name))?.bytes
      return bytes === undefined ? null : roundToPrecision(value / bytes)
    }
    case 'share':
      return value
    case 'per second':
      return isRate(name) ? value : null
    default:
      return quantity satisfies never
  }
}

function roundToPrecision(value: number): number {
  return Number(value.toPrecision(12))
}
