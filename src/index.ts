/** The documented library: parsing, judging and planning as pure functions, and the engine on one machine. */
export { assessCandidate, type AssessInput } from './decide/assess.ts'
export type { Assessment } from './decide/assessment.ts'
export { computeBettingEvidence } from './decide/evidence/betting.ts'
export { computeConfidenceInterval, type Interval } from './decide/evidence/confidence-interval.ts'
export {
  type MetricDirection,
  type MetricMeasure,
  type EvidenceScale,
  computeSignedDifference,
} from './decide/evidence/difference.ts'
export { isSameFamily, type IdeaVariant } from './decide/evidence/family.ts'
export {
  type Forecast,
  predictOutcomes,
  type ForecastInput,
  type PairNoise,
} from './decide/evidence/forecast.ts'
export { judgeGuardrail } from './decide/evidence/guardrail.ts'
export { estimateHodgesLehmann } from './decide/evidence/hodges-lehmann.ts'
export { endJob } from './decide/evidence/job.ts'
export { computeCampaignLevel, computeFamilyLevel, computeObjectiveLevel } from './decide/evidence/levels.ts'
export {
  type CalibrationJob,
  calibrateNoiseEvidence,
  type NoiseCalibration,
} from './decide/evidence/noise-calibration.ts'
export { type EvidencePair, observePair } from './decide/evidence/observe-pair.ts'
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
} from './decide/evidence/rank-evidence.ts'
export { checkRegression } from './decide/evidence/regression-check.ts'
export { computeReportedEffect, type EffectEstimate } from './decide/evidence/reported-effect.ts'
export { resumeEvidence } from './decide/evidence/resume.ts'
export { isSimplificationShown } from './decide/evidence/simplification.ts'
export { type EvidenceOptions, startEvidence } from './decide/evidence/start-evidence.ts'
export type { EvidenceState } from './decide/evidence/state.ts'
export { evidenceStateSchema } from './decide/evidence/state-schema.ts'
export { computeLargestSuiteEvidence } from './decide/evidence/suite-maximum.ts'
export { type TieBreak, isTieBreakerShown } from './decide/evidence/tie-breaker.ts'
export {
  type EvidenceProgress,
  type EvidenceVerdict,
  computeInterval,
  getEvidenceStatus,
  computeEvidenceVerdict,
} from './decide/evidence/verdict.ts'
export { parseDecidePayload } from './decide/payload.ts'
export { decideStability, type StabilityDecision, type StabilityPayload } from './decide/stability.ts'
export { auditLedger, type AuditResult } from './engine/audit.ts'
export { openRepositoryContext, type Environment, type RepositoryContext } from './engine/open.ts'
export type { CampaignContext } from './engine/place.ts'
export { replayLedger, type ReplayResult } from './engine/replay.ts'
export { runCampaign } from './engine/run.ts'
export { openController } from './engine/session.ts'
export { readCommittedSpec, startCampaign } from './engine/start.ts'
export { tickCampaign } from './engine/tick.ts'
export { ConflictError, ForgeError, HarnessError, LedgerError, UserError } from './errors.ts'
export { computeAgreement } from './judge/agreement.ts'
export { askJudges, type JudgesAnswer, type JudgesRequest } from './judge/ask-judges.ts'
export { type Batch, buildBatches, type JudgingPlan, buildLabelBatches } from './judge/batch.ts'
export { type Item, parseItems } from './measure/output/items.ts'
export {
  computeJudgedEvidence,
  buildJudgedOptions,
  type JudgedSample,
  type JudgedTerms,
} from './judge/item-evidence.ts'
export { type JudgedPair, buildJudgedPairs } from './judge/item-pairs.ts'
export { estimateJudgingCost, type JudgingCost } from './judge/judging-cost.ts'
export { computeLabelAgreement, type Label, parseLabels } from './judge/labels.ts'
export { type SampleReach, computeSampleReach } from './judge/reach.ts'
export { type ScoreRecord, scoreRecordSchema } from './model/score-record.ts'
export { type Rubric, buildRubric, buildSingletonRubric } from './judge/rubric.ts'
export { type ItemPair, type ItemSample, drawSample, type Sampling } from './judge/sample.ts'
export { type Campaign, createEmptyCampaign } from './model/campaign.ts'
export type { Experiment } from './model/experiment.ts'
export { type EventDraft, computeEventId, type LedgerEvent, parseEvent } from './model/event.ts'
export { fold } from './model/fold.ts'
export { type Outcome, type VerdictWord, toVerdictWord } from './model/outcome.ts'
export { type Budget, type BudgetTerms, openBudget } from './models/budget.ts'
export { type ChatAccess, createChatModels } from './models/chat.ts'
export { type Endpoint, parseEndpoint, resolveModel } from './models/endpoint.ts'
export { type Price, findPrice } from './models/maker.ts'
export type { PlanAction, Plan, PlanWaiting } from './plan/action.ts'
export { planCampaign } from './plan/stages.ts'
export type { World } from './plan/world.ts'
export type { ModelAnswer, ModelQuestion, Models, ModelUsage } from './ports.ts'
export { buildStatusView, type StatusView } from './report/status-view.ts'
export { parseSpec } from './spec/parse.ts'
export { SpecErrors } from './spec/problem.ts'
export type { Spec } from './spec/schema.ts'
