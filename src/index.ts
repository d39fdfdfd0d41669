/** The documented library: parsing, judging and planning as pure functions, and the engine on one machine. */
export { assess, type AssessInput } from './decide/assess.ts'
export type { Assessment } from './decide/assessment.ts'
export { bettingEvidence } from './decide/evidence/betting.ts'
export { confidenceInterval, type Interval } from './decide/evidence/confidence-interval.ts'
export { type Direction, type Measure, type Scale, signedDifference } from './decide/evidence/difference.ts'
export { sameFamily, type Variant } from './decide/evidence/family.ts'
export { type Forecast, forecast, type ForecastInput, type PairNoise } from './decide/evidence/forecast.ts'
export { guardrailVerdict } from './decide/evidence/guardrail.ts'
export { hodgesLehmann } from './decide/evidence/hodges-lehmann.ts'
export { endJob } from './decide/evidence/job.ts'
export { campaignLevel, familyLevel, objectiveLevel } from './decide/evidence/levels.ts'
export {
  type CalibrationJob,
  calibrationOf,
  type NoiseCalibration,
} from './decide/evidence/noise-calibration.ts'
export { type EvidencePair, observePair } from './decide/evidence/observe-pair.ts'
export {
  chanceToKeep,
  type CostInput,
  type ExpectedCost,
  expectedCost,
  type PlanningInput,
  smallestVisibleGain,
  type WayOut,
  waysOut,
} from './decide/evidence/planning.ts'
export { type Difference, evidenceOf, lnEvidence, lnEvidencePath } from './decide/evidence/rank-evidence.ts'
export { regressionCheck } from './decide/evidence/regression-check.ts'
export { effectOf, type ReportedEffect } from './decide/evidence/reported-effect.ts'
export { resume } from './decide/evidence/resume.ts'
export { simplificationHolds } from './decide/evidence/simplification.ts'
export { type EvidenceOptions, startEvidence } from './decide/evidence/start-evidence.ts'
export type { EvidenceState } from './decide/evidence/state.ts'
export { evidenceState } from './decide/evidence/state-schema.ts'
export { largestSuiteEvidence } from './decide/evidence/suite-maximum.ts'
export { type TieBreak, tieBreakerHolds } from './decide/evidence/tie-breaker.ts'
export {
  type EvidenceStanding,
  type EvidenceVerdict,
  intervalOf,
  statusOf,
  verdict,
} from './decide/evidence/verdict.ts'
export { parseDecidePayload } from './decide/payload.ts'
export { decideStability, type StabilityDecision, type StabilityPayload } from './decide/stability.ts'
export { audit, type AuditResult } from './engine/audit.ts'
export { openWorkshop, type Surroundings, type Workshop } from './engine/open.ts'
export type { Place } from './engine/place.ts'
export { replay, type ReplayResult } from './engine/replay.ts'
export { run } from './engine/run.ts'
export { openHands } from './engine/session.ts'
export { committedSpec, startCampaign } from './engine/start.ts'
export { tick } from './engine/tick.ts'
export { ConflictError, ForgeError, HarnessError, LedgerError, UserError } from './errors.ts'
export { agreementOf } from './judge/agreement.ts'
export { askJudges, type JudgesAnswer, type JudgesAsked } from './judge/ask-judges.ts'
export { type Batch, batchesOf, type Judging, labelBatches } from './judge/batch.ts'
export { type Item, itemsIn } from './measure/output/items.ts'
export {
  judgedEvidence,
  judgedOptions,
  type JudgedSample,
  type JudgedTerms,
} from './judge/item-evidence.ts'
export { type JudgedPair, itemPairs } from './judge/item-pairs.ts'
export { judgingCost, type JudgingCost } from './judge/judging-cost.ts'
export { agreementWithLabels, type Label, parseLabels } from './judge/labels.ts'
export { type Reach, reachOf } from './judge/reach.ts'
export { type ScoreRecord, scoreRecord } from './model/score-record.ts'
export { type Rubric, rubricOf, singletonRubricOf } from './judge/rubric.ts'
export { type ItemPair, type Sample, sampleOf, type Sampling } from './judge/sample.ts'
export { type Campaign, emptyCampaign } from './model/campaign.ts'
export type { Experiment } from './model/experiment.ts'
export { type EventDraft, eventId, type LedgerEvent, parseEvent } from './model/event.ts'
export { fold } from './model/fold.ts'
export { type Outcome, type VerdictWord, verdictOf } from './model/outcome.ts'
export { type Budget, type BudgetTerms, openBudget } from './models/budget.ts'
export { type ChatAccess, chatModels } from './models/chat.ts'
export { type Endpoint, endpointAt, modelAt } from './models/endpoint.ts'
export { type Price, priceOf } from './models/maker.ts'
export type { Action, Plan, Waiting } from './plan/action.ts'
export { plan } from './plan/stages.ts'
export type { World } from './plan/world.ts'
export type { ModelAnswer, ModelQuestion, Models, ModelUsage } from './ports.ts'
export { statusView, type StatusView } from './report/status-view.ts'
export { parseSpec } from './spec/parse.ts'
export { SpecErrors } from './spec/problem.ts'
export type { Spec } from './spec/schema.ts'
