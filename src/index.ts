// The documented library: parsing, judging and planning as pure functions, and the engine on one machine.

// Specs

export { SpecErrors } from './spec/errors.ts'
export { parseSpec } from './spec/load.ts'
export type { Spec } from './spec/schema.ts'

// Evidence and verdicts

export { assessCandidate, type AssessInput } from './decide/assess.ts'
export type { Assessment } from './decide/assessment.ts'
export { parseDecidePayload } from './decide/ce/assess.ts'
export { decideStability, type StabilityDecision, type StabilityPayload } from './decide/ce/stability.ts'
export {
  calibrateNoiseEvidence,
  type CalibrationJob,
  type NoiseCalibration,
} from './decide/evidence/calibration.ts'
export {
  computeConfidenceInterval,
  computeReportedEffect,
  type EffectEstimate,
  estimateHodgesLehmann,
  type Interval,
} from './decide/evidence/interval.ts'
export { endJob, type EvidencePair, observePair } from './decide/evidence/observe.ts'
export {
  computeChanceToKeep,
  computeExpectedCost,
  type CostInput,
  type ExpectedCost,
  findSmallestVisibleGain,
  type Forecast,
  type ForecastInput,
  listWaysOut,
  type PairNoise,
  type PlanningInput,
  predictOutcomes,
  type WayOut,
} from './decide/evidence/planning.ts'
export {
  computeBettingEvidence,
  computeCampaignLevel,
  computeFamilyLevel,
  computeLargestSuiteEvidence,
  computeLnEvidence,
  computeLnEvidencePath,
  computeObjectiveLevel,
  computeSignedDifference,
  type Difference,
  type EvidenceScale,
  type MetricDirection,
  type MetricMeasure,
  toEvidence,
} from './decide/evidence/rank-test.ts'
export {
  checkRegression,
  computeEvidenceVerdict,
  computeInterval,
  type EvidenceProgress,
  type EvidenceVerdict,
  getEvidenceStatus,
  type GuardrailTerms,
  type IdeaVariant,
  isSameFamily,
  isSimplificationShown,
  isTieBreakerShown,
  judgeGuardrail,
  type TieBreak,
} from './decide/evidence/rules.ts'
export {
  type EvidenceOptions,
  type EvidenceState,
  evidenceStateSchema,
  resumeEvidence,
  startEvidence,
} from './decide/evidence/state.ts'

// Judging by models

export {
  askJudges,
  estimateJudgingCost,
  type JudgesAnswer,
  type JudgesRequest,
  type JudgingCost,
} from './judge/ask-judges.ts'
export {
  type Batch,
  buildBatches,
  buildLabelBatches,
  drawSample,
  type ItemPair,
  type ItemSample,
  type JudgingPlan,
  type Sampling,
} from './judge/batch.ts'
export { type Budget, type BudgetTerms, openBudget } from './judge/budget.ts'
export { type ChatAccess, createChatModels } from './judge/chat-model.ts'
export { type Endpoint, parseEndpoint, resolveModel } from './judge/endpoint.ts'
export type { Price } from './judge/model-access.ts'
export {
  buildJudgedOptions,
  buildJudgedPairs,
  computeJudgedEvidence,
  type JudgedPair,
  type JudgedSample,
  type JudgedTerms,
} from './judge/evidence.ts'
export { computeAgreement, computeLabelAgreement, type Label, parseLabels } from './judge/labels.ts'
export {
  buildRubric,
  buildSingletonRubric,
  computeSampleReach,
  type Rubric,
  type SampleReach,
} from './judge/rubric.ts'
export { type Item, parseItems } from './measure/output/harness-output.ts'
export type { ModelAnswer, ModelQuestion, Models, ModelUsage } from './ports.ts'

// Campaigns: events, state and plans

export { type Campaign, createEmptyCampaign } from './model/campaign.ts'
export { type ScoreRecord, scoreRecordSchema } from './model/event-schemas.ts'
export { computeEventId, type EventDraft, type LedgerEvent, parseEvent } from './model/event.ts'
export type { Experiment } from './model/experiment.ts'
export { fold } from './model/fold/fold.ts'
export { type Outcome, toVerdictWord, type VerdictWord } from './model/verdict.ts'
export type { Plan, PlanAction, PlanWaiting } from './plan/action.ts'
export { planCampaign } from './plan/stages.ts'
export type { World } from './plan/world.ts'

// The engine on one machine

export type { CampaignContext } from './engine/campaign/context.ts'
export { type Environment, openRepositoryContext, type RepositoryContext } from './engine/campaign/open.ts'
export { readCommittedSpec, startCampaign } from './engine/campaign/start.ts'
export { openController, runCampaign } from './engine/controller/run.ts'
export { tickCampaign } from './engine/controller/tick.ts'
export { auditLedger, type AuditResult, replayLedger, type ReplayResult } from './engine/verify/audit.ts'

// Reports and errors

export { buildStatusView, type StatusView } from './report/status.ts'
export { ConflictError, ForgeError, HarnessError, LedgerError, UserError } from './errors.ts'
