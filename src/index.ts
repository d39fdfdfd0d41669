// The documented library: parsing, judging and planning as pure functions, and the engine on one machine.
export { assessCandidate, type AssessInput } from './decide/assess.ts'
export type { Assessment } from './decide/assessment.ts'
export { computeBettingEvidence } from './decide/evidence/rank-test.ts'
export { computeConfidenceInterval, type Interval } from './decide/evidence/interval.ts'
export {
  type MetricDirection,
  type MetricMeasure,
  type EvidenceScale,
  computeSignedDifference,
} from './decide/evidence/rank-test.ts'
export { isSameFamily, type IdeaVariant } from './decide/evidence/rules.ts'
export {
  type Forecast,
  predictOutcomes,
  type ForecastInput,
  type PairNoise,
} from './decide/evidence/planning.ts'
export { judgeGuardrail } from './decide/evidence/rules.ts'
export { estimateHodgesLehmann } from './decide/evidence/interval.ts'
export { endJob } from './decide/evidence/observe.ts'
export {
  computeCampaignLevel,
  computeFamilyLevel,
  computeObjectiveLevel,
} from './decide/evidence/rank-test.ts'
export {
  type CalibrationJob,
  calibrateNoiseEvidence,
  type NoiseCalibration,
} from './decide/evidence/calibration.ts'
export { type EvidencePair, observePair } from './decide/evidence/observe.ts'
export {
  computeChanceToKeep,
  type CostInput,
  type ExpectedCost,
  computeExpectedCost,
  type PlanningInput,
  findSmallestVisibleGain,
  type WayOut,
  listWaysOut,
} from './decide/evidence/planning.ts'
export {
  type Difference,
  toEvidence,
  computeLnEvidence,
  computeLnEvidencePath,
} from './decide/evidence/rank-test.ts'
export { checkRegression } from './decide/evidence/rules.ts'
export { computeReportedEffect, type EffectEstimate } from './decide/evidence/interval.ts'
export { resumeEvidence } from './decide/evidence/state.ts'
export { isSimplificationShown } from './decide/evidence/rules.ts'
export { type EvidenceOptions, startEvidence } from './decide/evidence/state.ts'
export type { EvidenceState } from './decide/evidence/state.ts'
export { evidenceStateSchema } from './decide/evidence/state.ts'
export { computeLargestSuiteEvidence } from './decide/evidence/rank-test.ts'
export { type TieBreak, isTieBreakerShown } from './decide/evidence/rules.ts'
export {
  type EvidenceProgress,
  type EvidenceVerdict,
  computeInterval,
  getEvidenceStatus,
  computeEvidenceVerdict,
} from './decide/evidence/rules.ts'
export { parseDecidePayload } from './decide/ce/assess.ts'
export { decideStability, type StabilityDecision, type StabilityPayload } from './decide/ce/stability.ts'
export { auditLedger, type AuditResult } from './engine/verify/audit.ts'
export { openRepositoryContext, type Environment, type RepositoryContext } from './engine/campaign/open.ts'
export type { CampaignContext } from './engine/campaign/context.ts'
export { replayLedger, type ReplayResult } from './engine/verify/replay.ts'
export { runCampaign } from './engine/controller/run.ts'
export { openController } from './engine/controller/run.ts'
export { readCommittedSpec, startCampaign } from './engine/campaign/start.ts'
export { tickCampaign } from './engine/controller/tick.ts'
export { ConflictError, ForgeError, HarnessError, LedgerError, UserError } from './errors.ts'
export { computeAgreement } from './judge/labels.ts'
export { askJudges, type JudgesAnswer, type JudgesRequest } from './judge/ask-judges.ts'
export { type Batch, buildBatches, type JudgingPlan, buildLabelBatches } from './judge/batch.ts'
export { type Item, parseItems } from './measure/output/harness-output.ts'
export {
  computeJudgedEvidence,
  buildJudgedOptions,
  type JudgedSample,
  type JudgedTerms,
} from './judge/evidence.ts'
export { type JudgedPair, buildJudgedPairs } from './judge/evidence.ts'
export { estimateJudgingCost, type JudgingCost } from './judge/ask-judges.ts'
export { computeLabelAgreement, type Label, parseLabels } from './judge/labels.ts'
export { type SampleReach, computeSampleReach } from './judge/rubric.ts'
export { type ScoreRecord, scoreRecordSchema } from './model/event-schemas.ts'
export { type Rubric, buildRubric, buildSingletonRubric } from './judge/rubric.ts'
export { type ItemPair, type ItemSample, drawSample, type Sampling } from './judge/batch.ts'
export { type Campaign, createEmptyCampaign } from './model/campaign.ts'
export type { Experiment } from './model/experiment.ts'
export { type EventDraft, computeEventId, type LedgerEvent, parseEvent } from './model/event.ts'
export { fold } from './model/fold/fold.ts'
export { type Outcome, type VerdictWord, toVerdictWord } from './model/verdict.ts'
export { type Budget, type BudgetTerms, openBudget } from './judge/budget.ts'
export { type ChatAccess, createChatModels } from './judge/chat-model.ts'
export { type Endpoint, parseEndpoint, resolveModel } from './judge/endpoint.ts'
export { type Price, findPrice } from './judge/endpoint.ts'
export type { PlanAction, Plan, PlanWaiting } from './plan/action.ts'
export { planCampaign } from './plan/stages.ts'
export type { World } from './plan/world.ts'
export type { ModelAnswer, ModelQuestion, Models, ModelUsage } from './ports.ts'
export { buildStatusView, type StatusView } from './report/status.ts'
export { parseSpec } from './spec/load.ts'
export { SpecErrors } from './spec/errors.ts'
export type { Spec } from './spec/schema.ts'
