import type { SpecFinding } from './problem.ts'
import { requireUniqueArtifacts, checkCommandProposers, requireSinglePlateauKey } from './rules/campaign.ts'
import {
  checkEnvironmentNames,
  requireUniqueEnvironmentNames,
  checkPortRange,
  requirePortVariable,
  limitWorkTrees,
} from './rules/environment.ts'
import { requireGate, requireCeMetricGate, requireUniqueGateNames } from './rules/gates.ts'
import { requireHoldoutSource, requireHiddenHoldout } from './rules/holdout.ts'
import {
  checkLadderRepeats,
  requireLegalMeasurement,
  refuseContradictoryApproval,
  requireEnforcedNetworkOff,
  requireSmallerNullEffect,
  refuseTimedOnce,
  refuseScoredBenchmarks,
  requireDecidableSuite,
  requireSuiteCommands,
  requireUniqueSuiteTasks,
} from './rules/measurement.ts'
import {
  refusePrintedBuiltIns,
  requireDirection,
  requireReachableImprovement,
  requireJudgeCostCap,
  requireScoreScale,
  requireJudgeSection,
  refuseDuplicateJudgeKeys,
  requireJudgedPrimary,
  requireLossSuite,
  requireUniqueObjectives,
  refuseTimedScoreField,
  requireSingletonRubric,
} from './rules/metric.ts'
import {
  checkArtifactPaths,
  checkEnvFilePath,
  checkPatchFolders,
  requireReachableMutable,
  checkScopePatterns,
  checkSharedFiles,
  checkWorkingDirectory,
} from './rules/paths.ts'
import { checkShares } from './rules/shares.ts'
import type { SpecRule, RuleContext } from './rules/rule.ts'

/** Everything a spec must hold that spans several keys or that a shape cannot say. */
export const RULES: readonly SpecRule[] = [
  { name: 'at least one gate of either kind', check: requireGate },
  { name: 'ce: at least one metric gate', check: requireCeMetricGate },
  { name: 'gate names are unique', check: requireUniqueGateNames },
  { name: 'the measurement is legal for the type of primary', check: requireLegalMeasurement },
  { name: 'what is measured once repeats exactly', check: refuseTimedOnce },
  { name: 'a scorer prints the metrics alone', check: refuseScoredBenchmarks },
  { name: 'which way is better is said', check: requireDirection },
  { name: 'a judge metric has a judge', check: requireJudgeSection },
  { name: 'a judge scores the primary', check: requireJudgedPrimary },
  { name: 'scores have a scale', check: requireScoreScale },
  { name: 'a judge says what counts', check: refuseDuplicateJudgeKeys },
  { name: 'an improvement fits into the scale', check: requireReachableImprovement },
  { name: 'sampled singletons have a rubric', check: requireSingletonRubric },
  { name: 'judging is capped', check: requireJudgeCostCap },
  { name: 'a loss has a suite', check: requireLossSuite },
  { name: 'objectives are unique', check: requireUniqueObjectives },
  { name: 'built-in metrics are not printed', check: refusePrintedBuiltIns },
  { name: 'a scored primary is not built in', check: refuseTimedScoreField },
  { name: 'a ladder confirms at least what it explored', check: checkLadderRepeats },
  { name: 'a suite can decide', check: requireDecidableSuite },
  { name: 'suite tasks have one thing to run', check: requireSuiteCommands },
  { name: 'suite tasks are unique', check: requireUniqueSuiteTasks },
  { name: 'null_effect is below min_effect', check: requireSmallerNullEffect },
  { name: 'a share is not a whole number', check: checkShares },
  { name: 'what is denied is not asked for', check: refuseContradictoryApproval },
  { name: 'network off is enforced', check: requireEnforcedNetworkOff },
  { name: 'a holdout has a place', check: requireHoldoutSource },
  { name: 'a holdout stays hidden', check: requireHiddenHoldout },
  { name: 'scope patterns stay inside the repository', check: checkScopePatterns },
  { name: 'something mutable is left', check: requireReachableMutable },
  { name: 'working_directory is inside the repository', check: checkWorkingDirectory },
  { name: 'shared files are inside the repository', check: checkSharedFiles },
  { name: 'artifacts are inside the repository', check: checkArtifactPaths },
  { name: 'env_file is inside the repository', check: checkEnvFilePath },
  { name: 'folders of patches are inside the repository', check: checkPatchFolders },
  { name: 'environment names may be let through', check: checkEnvironmentNames },
  { name: 'an environment name has one source', check: requireUniqueEnvironmentNames },
  { name: 'the port variable is free', check: requirePortVariable },
  { name: 'ce: few work trees', check: limitWorkTrees },
  { name: 'ports exist', check: checkPortRange },
  { name: 'one plateau', check: requireSinglePlateauKey },
  { name: 'a command proposer has one command', check: checkCommandProposers },
  { name: 'artifacts are unique', check: requireUniqueArtifacts },
]

export function checkRules(context: RuleContext): SpecFinding[] {
  return RULES.flatMap(rule => rule.check(context))
}
