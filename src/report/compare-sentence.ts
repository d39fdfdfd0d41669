import { effectIn } from '../decide/evidence/reported-effect.ts'
import { objectivesOf } from '../decide/objectives.ts'
import { upperBound } from '../decide/evidence/confidence-interval.ts'
import { effectWords, type Measured, shareOf, upperText } from '../decide/paired/effect-text.ts'
import type { Standing } from '../decide/paired/standing.ts'
import { changeText, numberText, plural } from '../decide/wording.ts'
import { aggregationOf } from '../model/aggregate.ts'
import { typicalMetrics } from '../model/report.ts'
import type { CompareWord, Compared } from './compare-view.ts'
import { durationText } from './duration.ts'
import { capitalised } from './sentence.ts'

/** What the second side is called where it is no commit. */
export const WORK_TREE = 'your work tree'

/** The one sentence that answers: how much, and where the truth lies. What it took is said once, by the line of its cost. */
export function compareSentence(compared: Compared, word: CompareWord, standing: Standing | null): string {
  const said = sentence(compared, word, standing)
  // A branch keeps its name; what is not one begins as a sentence does.
  return said.startsWith(compared.head.name) && compared.head.name !== WORK_TREE ? said : capitalised(said)
}

function sentence(compared: Compared, word: CompareWord, standing: Standing | null): string {
  const { base, head, end, assessment } = compared
  if (end === 'same')
    return `${head.name} and ${base.name} have the same files: there is nothing to compare, and nothing was run.`
  if (word === 'broken' || word === 'refused')
    return `${head.name} is ${word}: ${(assessment?.reason ?? '').split('\n')[0]}`
  return `${standing === null ? onceText(compared, word) : pairsText(compared, word, standing)}.`
}

function pairsText(compared: Compared, word: CompareWord, standing: Standing): string {
  const sure = effectPhrase(compared, standing, '')
  const probable = effectPhrase(compared, standing, 'probably ')
  switch (word) {
    case 'better':
    case 'worse':
      return sure
    case 'no gain':
      return `no gain of ${leastText(compared)} or more: ${probable}`
    case 'not proven':
    case 'refused':
    case 'broken':
      return `${unproven(compared)}: ${probable}${compared.end === 'decided' ? ruledOut(compared, standing) : ' so far'}`
    default:
      return word satisfies never
  }
}

/** Says why measuring ended where both are practically equal. */
function ruledOut({ paired, spec }: Compared, { primary }: Standing): string {
  if (primary.given_up?.reason !== 'large-change-ruled-out') return ''
  return `; a difference of ${leastText({ paired, spec }, 2)} or more is ruled out either way`
}

function unproven({ end, minutes, paired }: Compared): string {
  switch (end) {
    case 'decided':
      return `not proven in ${plural(paired?.jobs.length ?? 0, 'job')}`
    case 'time':
      return `not proven within ${durationText(60 * (minutes ?? 0))} of measuring`
    case 'interrupted':
    case 'declined':
    case 'same':
      return 'interrupted, and not proven'
    default:
      return end satisfies never
  }
}

/** "my-branch is 4.1 % faster than main (between 2.9 and 5.2 %)" */
function effectPhrase({ base, head, spec, paired }: Compared, standing: Standing, sure: string): string {
  const [{ name, direction }] = objectivesOf(spec.metric)
  const { effect, interval } = effectIn(standing.primary)
  if (effect === null) return `${head.name} could not be compared with ${base.name}`
  const measured: Measured = { name, direction, scale: paired?.rule.scale ?? 'log' }
  const { size, word, range, unit } = effectWords(effect, interval, measured)
  const upper = standing.status === 'drop' ? upperBound(standing.primary.differences) : null
  const open = upper === null ? 'too few pairs to say between what' : upperText(upper, measured)
  const between = range === null ? ` (${open})` : ` (between ${range[0]} and ${range[1]}${unit})`
  return `${head.name} ${predicate(name, `${sure}${size}${unit} ${word}`)} than ${base.name}${between}`
}

function predicate(name: string, much: string): string {
  if (name === 'wall_seconds') return `is ${much}`
  if (name === 'cpu_seconds' || name === 'max_rss_mb') return `needs ${much}`
  return `has ${much} ${name}`
}

function leastText({ paired, spec }: Pick<Compared, 'paired' | 'spec'>, times = 1): string {
  const least = times * (paired?.rule.min_effect ?? spec.evidence.min_effect ?? 0)
  const [{ name, direction }] = objectivesOf(spec.metric)
  if (paired?.rule.scale === 'linear') return `${numberText(least)} ${name}`
  return `${numberText(Number((Math.abs(shareOf(least, direction)) * 100).toPrecision(2)))} %`
}

/** What repeats exactly needs no interval: both numbers say all. */
function onceText(compared: Compared, word: CompareWord): string {
  const { base, head, spec, label, report, end } = compared
  if (report === null || end !== 'decided')
    return `${end === 'time' ? 'the time was up' : 'interrupted'} before ${head.name} and ${base.name} were compared: nothing is known yet`
  const [{ name }] = objectivesOf(spec.metric)
  const aggregation = aggregationOf(spec)
  const [before, after] = (['base', label] as const).map(
    side => typicalMetrics(report, side, aggregation)[name],
  )
  const change =
    typeof before === 'number' && typeof after === 'number' ? changeText(name, before, after) : name
  const took = 'it repeats exactly'
  if (before === after) return `${head.name} and ${base.name} come out the same: ${change}; ${took}`
  if (word === 'no gain') return `no gain worth having: ${head.name} against ${base.name}, ${change}; ${took}`
  return `${head.name} is ${word} than ${base.name}: ${change}; ${took}`
}
