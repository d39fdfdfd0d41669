import type { SpecFinding } from '../problem.ts'
import { listTimedDecisiveMetrics } from '../decisive.ts'
import { isBenchmarkFormat } from '../benchmark-formats.ts'
import { getGivenValue } from '../prepare.ts'
import { createSpecFinding, findRepeatedIndexes, type RuleContext } from './rule.ts'

const LEGAL_MEASUREMENTS = {
  hard: 'mode auto, once or paired; or stability with any method',
  judge: 'mode auto or paired (paired items); or stability, with minimum_improvement',
  loss: 'mode auto or paired with a suite (suite pairs); or suite.advisory: true (means)',
} as const

/** The table of spec.md: which measurement a type of primary metric may have. */
export function requireLegalMeasurement({ spec, raw }: RuleContext): SpecFinding[] {
  const { type } = spec.metric.primary
  const { mode } = spec.measurement
  const stability = getGivenValue(raw, ['measurement', 'stability']) !== undefined
  const found: string[] = []
  if (type !== 'hard' && mode === 'once') found.push(`mode once with a ${type} metric`)
  if (type === 'loss' && stability) found.push('stability with a loss metric')
  if (stability && mode !== 'auto') found.push(`mode ${mode} together with stability`)
  const key = found[0]?.startsWith('mode') ? 'mode' : 'stability'
  return found
    .slice(0, 1)
    .map(what =>
      createSpecFinding(
        ['measurement', key],
        what,
        `for ${type}: ${LEGAL_MEASUREMENTS[type]}`,
        'choose one of these',
      ),
    )
}

/** One run of each side says nothing about a number that is never the same twice. */
export function refuseTimedOnce({ spec, raw }: RuleContext): SpecFinding[] {
  const { mode } = spec.measurement
  const stability = getGivenValue(raw, ['measurement', 'stability']) !== undefined
  if (mode !== 'once' || stability || spec.metric.primary.type !== 'hard') return []
  const timed = listTimedDecisiveMetrics(spec)
  if (timed.length === 0) return []
  const names = timed.join(', ')
  return [
    createSpecFinding(
      ['measurement', 'mode'],
      `once with ${names}, which is never deterministic`,
      `for ${names}: mode auto or paired; or stability with any method`,
      'choose one of these, or let the harness print something that repeats exactly',
    ),
  ]
}

/** A scorer prints the metrics in a format of its own: what the harness prints is not read then. */
export function refuseScoredBenchmarks({ spec }: RuleContext): SpecFinding[] {
  const { output, score } = spec.measurement
  if (score === null || !isBenchmarkFormat(output)) return []
  const fix = 'remove output, or measurement.score'
  return [createSpecFinding(['measurement', 'output'], `${output} beside a scorer`, 'one of the two', fix)]
}

export function checkLadderRepeats({ spec }: RuleContext): SpecFinding[] {
  const ladder = spec.measurement.stability?.ladder ?? null
  const confirm = ladder?.confirmation_repeats ?? null
  if (ladder === null || confirm === null || confirm >= ladder.exploratory_pairs) return []
  const path = ['measurement', 'stability', 'ladder', 'confirmation_repeats']
  const least = `at least exploratory_pairs (${ladder.exploratory_pairs})`
  return [createSpecFinding(path, String(confirm), least, 'raise it, or lower exploratory_pairs')]
}

const MIN_SUITE_PAIRS = 12

/** Fewer pairs cannot reach any threshold, whatever they show. */
export function requireDecidableSuite({ spec }: RuleContext): SpecFinding[] {
  const { suite } = spec.measurement
  if (suite === null || suite.advisory) return []
  const pairs = suite.tasks.length * suite.seeds
  if (pairs >= MIN_SUITE_PAIRS) return []
  const found = `${pairs} (task, seed) ${pairs === 1 ? 'pair' : 'pairs'}`
  const fix = `add tasks, set seeds: ${Math.ceil(MIN_SUITE_PAIRS / suite.tasks.length)}, or set advisory: true`
  return [createSpecFinding(['measurement', 'suite'], found, `at least ${MIN_SUITE_PAIRS}`, fix, 'key')]
}

export function requireSuiteCommands({ spec }: RuleContext): SpecFinding[] {
  const tasks = spec.measurement.suite?.tasks ?? []
  return tasks.flatMap((task, index) => {
    const ways = [task.command, task.args].filter(way => way !== undefined).length
    const described = task.task !== undefined || task.workflow !== undefined
    if (ways === 1 || (ways === 0 && described)) return []
    const found = ways === 2 ? 'command and args' : 'nothing to run'
    return [
      createSpecFinding(
        ['measurement', 'suite', 'tasks', index],
        found,
        'command, args, task or workflow',
        'give command or args',
      ),
    ]
  })
}

export function requireUniqueSuiteTasks({ spec }: RuleContext): SpecFinding[] {
  const names = (spec.measurement.suite?.tasks ?? []).map(({ name }) => name)
  return findRepeatedIndexes(names).map(index =>
    createSpecFinding(
      ['measurement', 'suite', 'tasks', index, 'name'],
      JSON.stringify(names[index]),
      'a name no other task has',
      'rename it',
    ),
  )
}

/** A gain called none must be smaller than the smallest gain worth having. */
export function requireSmallerNullEffect({ spec }: RuleContext): SpecFinding[] {
  const { min_effect: min, null_effect: none } = spec.evidence
  if (min === null || none === null || none < min || (none === 0 && min === 0)) return []
  return [
    createSpecFinding(
      ['evidence', 'null_effect'],
      String(none),
      `less than min_effect (${min})`,
      'lower it, or leave it out',
    ),
  ]
}

/** Else nothing could ever land. */
export function refuseContradictoryApproval({ spec }: RuleContext): SpecFinding[] {
  if (spec.merge.unisolated !== 'deny' || spec.measurement.isolation !== 'none') return []
  return [
    createSpecFinding(
      ['merge', 'unisolated'],
      'deny with measurement.isolation none',
      'a spec under which something can land',
      'set measurement.isolation: uid, or merge.unisolated: allow',
    ),
  ]
}

export function requireEnforcedNetworkOff({ spec }: RuleContext): SpecFinding[] {
  const { network, isolation } = spec.measurement
  if (network === 'on' || typeof isolation === 'object' || isolation === 'bwrap') return []
  const found = `off with isolation ${isolation}`
  return [
    createSpecFinding(
      ['measurement', 'network'],
      found,
      'isolation bwrap or container',
      'set measurement.isolation: bwrap',
    ),
  ]
}
