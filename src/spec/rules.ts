import type { Finding } from './problem.ts'
import { artifactsUnique, commandProposersStart, onePlateau } from './rules/campaign.ts'
import {
  environmentNames,
  environmentOnce,
  portsExist,
  portVariable,
  workTreesAreFew,
} from './rules/environment.ts'
import { aGateOfEitherKind, ceMetricGate, gateNamesUnique } from './rules/gates.ts'
import { holdoutHasAPlace, holdoutStaysHidden } from './rules/holdout.ts'
import {
  ladderConfirmsAtLeastWhatItExplored,
  legalMeasurement,
  deniesNotWhatIsAskedFor,
  networkOffIsEnforced,
  nullEffectBelowMinEffect,
  onceIsNotTimed,
  scoreReadsNoBenchmarks,
  suiteCanDecide,
  suiteTasksRun,
  suiteTasksUnique,
} from './rules/measurement.ts'
import {
  builtInsAreNotPrinted,
  directionIsSaid,
  judgeCanImprove,
  judgeCostIsCapped,
  judgeHasAScale,
  judgeHasASection,
  judgeSaysWhatCounts,
  judgeScoresThePrimary,
  lossHasASuite,
  objectivesUnique,
  scoreFieldIsNotTimed,
  singletonsHaveARubric,
} from './rules/metric.ts'
import {
  artifactsInside,
  envFileInside,
  patchFoldersInside,
  mutableIsReachable,
  scopePatterns,
  sharedFilesInside,
  workingDirectoryInside,
} from './rules/paths.ts'
import { sharesAreMeant } from './rules/shares.ts'
import type { Rule, RuleContext } from './rules/rule.ts'

/** Everything a spec must hold that spans several keys or that a shape cannot say. */
export const RULES: readonly Rule[] = [
  { name: 'at least one gate of either kind', check: aGateOfEitherKind },
  { name: 'ce: at least one metric gate', check: ceMetricGate },
  { name: 'gate names are unique', check: gateNamesUnique },
  { name: 'the measurement is legal for the type of primary', check: legalMeasurement },
  { name: 'what is measured once repeats exactly', check: onceIsNotTimed },
  { name: 'a scorer prints the metrics alone', check: scoreReadsNoBenchmarks },
  { name: 'which way is better is said', check: directionIsSaid },
  { name: 'a judge metric has a judge', check: judgeHasASection },
  { name: 'a judge scores the primary', check: judgeScoresThePrimary },
  { name: 'scores have a scale', check: judgeHasAScale },
  { name: 'a judge says what counts', check: judgeSaysWhatCounts },
  { name: 'an improvement fits into the scale', check: judgeCanImprove },
  { name: 'sampled singletons have a rubric', check: singletonsHaveARubric },
  { name: 'judging is capped', check: judgeCostIsCapped },
  { name: 'a loss has a suite', check: lossHasASuite },
  { name: 'objectives are unique', check: objectivesUnique },
  { name: 'built-in metrics are not printed', check: builtInsAreNotPrinted },
  { name: 'a scored primary is not built in', check: scoreFieldIsNotTimed },
  { name: 'a ladder confirms at least what it explored', check: ladderConfirmsAtLeastWhatItExplored },
  { name: 'a suite can decide', check: suiteCanDecide },
  { name: 'suite tasks have one thing to run', check: suiteTasksRun },
  { name: 'suite tasks are unique', check: suiteTasksUnique },
  { name: 'null_effect is below min_effect', check: nullEffectBelowMinEffect },
  { name: 'a share is not a whole number', check: sharesAreMeant },
  { name: 'what is denied is not asked for', check: deniesNotWhatIsAskedFor },
  { name: 'network off is enforced', check: networkOffIsEnforced },
  { name: 'a holdout has a place', check: holdoutHasAPlace },
  { name: 'a holdout stays hidden', check: holdoutStaysHidden },
  { name: 'scope patterns stay inside the repository', check: scopePatterns },
  { name: 'something mutable is left', check: mutableIsReachable },
  { name: 'working_directory is inside the repository', check: workingDirectoryInside },
  { name: 'shared files are inside the repository', check: sharedFilesInside },
  { name: 'artifacts are inside the repository', check: artifactsInside },
  { name: 'env_file is inside the repository', check: envFileInside },
  { name: 'folders of patches are inside the repository', check: patchFoldersInside },
  { name: 'environment names may be let through', check: environmentNames },
  { name: 'an environment name has one source', check: environmentOnce },
  { name: 'the port variable is free', check: portVariable },
  { name: 'ce: few work trees', check: workTreesAreFew },
  { name: 'ports exist', check: portsExist },
  { name: 'one plateau', check: onePlateau },
  { name: 'a command proposer has one command', check: commandProposersStart },
  { name: 'artifacts are unique', check: artifactsUnique },
]

export function brokenRules(context: RuleContext): Finding[] {
  return RULES.flatMap(rule => rule.check(context))
}
