import { Br as LedgerError, C as regressionCheck, Cn as assess, Cr as verdictOf, D as openWorkshop, Fr as familyLevel, Ir as objectiveLevel, Ln as effectOf, Lr as ConflictError, Pr as campaignLevel, R as openHands, Rn as decideStability, Rr as ForgeError, Tt as statusView, Ur as sameFamily, Vr as UserError, Xn as startEvidence, Xr as array, Yr as _enum, Zn as guardrailVerdict, Zr as boolean, _r as lnEvidencePath, an as parseSpec, br as parseEvent, c as forecast, cr as statusOf, d as tick, dr as confidenceInterval, ei as number, er as observePair, fr as hodgesLehmann, gr as lnEvidence, hr as evidenceOf, i as expectedCost, ii as union, in as emptyCampaign, it as startCampaign, l as audit, lr as verdict, mr as simplificationHolds, n as parseDecidePayload, ni as string, nn as fold, nr as signedDifference, nt as committedSpec, o as smallestVisibleGain, p as plan, pr as tieBreakerHolds, r as chanceToKeep, ri as tuple, s as waysOut, sr as intervalOf, t as replay, ti as strictObject, tr as endJob, u as run, un as SpecErrors, x as calibrationOf, yr as eventId, zr as HarnessError } from "./shared2.js";
// src/decide/evidence/betting.ts
const BETS = [
	.15,
	.3,
	.5,
	.75
];
function lnProduct(differences, m0, bet) {
	return differences.reduce((ln, difference) => ln + Math.log1p(bet * (difference - m0) / (1 + Math.abs(m0))), 0);
}
/**
* The betting e-process for bounded scores (decision 2b, Waudby-Smith and Ramdas), for pass/fail tasks:
* differences in [-1, 1], H0: mean <= m0, E = mean over b in {.15, .3, .5, .75} of
* prod (1 + b (d - m0)/(1 + |m0|)).
*/
function bettingEvidence(differences, m0 = 0) {
	const outside = differences.find((difference) => !(Math.abs(difference) <= 1));
	if (outside !== void 0) throw new UserError(`a difference of scores is ${outside}, and has to lie between -1 and 1`);
	if (!(Math.abs(m0) < 1)) throw new UserError(`m0 is ${m0}, and has to lie between -1 and 1`);
	const lns = BETS.map((bet) => lnProduct(differences, m0, bet));
	const most = Math.max(...lns);
	return evidenceOf(most + Math.log(lns.reduce((sum, ln) => sum + Math.exp(ln - most), 0) / BETS.length));
}
// src/decide/evidence/resume.ts
/** A parked state that may use more jobs; looking longer does not inflate the error (decision 3.3). */
function resume(state, { maxJobs }) {
	if (state.decided !== null) throw new UserError(`evidence: a verdict was reached (${state.decided.status}), so nothing can be resumed`);
	if (!Number.isInteger(maxJobs) || maxJobs <= state.jobs.length) throw new UserError(`evidence: maxJobs is ${maxJobs}, and ${state.jobs.length} jobs are used`, { fix: `give a whole number above ${state.jobs.length}` });
	return {
		...state,
		rule: {
			...state.rule,
			max_jobs: maxJobs
		}
	};
}
// src/decide/evidence/state-schema.ts
const natural = number().int().nonnegative();
const positive = number().positive();
const bets = tuple([number(), number()]);
const rule = strictObject({
	direction: _enum(["minimize", "maximize"]),
	scale: _enum(["log", "linear"]),
	min_effect: positive,
	null_effect: number().nonnegative(),
	level: positive.max(1),
	screen: positive.nullable(),
	pairs_per_job: natural.min(1),
	max_jobs: natural.min(1),
	fresh_runners: natural,
	runners: natural.min(1),
	single_machine: boolean(),
	noise: positive.nullable(),
	ratio_share: positive.max(1)
});
const job = strictObject({
	id: union([string(), number()]),
	runner: string(),
	pairs: natural,
	void_pairs: natural,
	base_first: natural,
	ended: boolean()
});
const sums = strictObject({
	pairs: natural,
	about_null: number().nonnegative(),
	about_alternatives: array(number().nonnegative())
});
const decided = strictObject({
	status: _enum(["keep", "drop"]),
	reason: _enum([
		"gain-shown",
		"broken",
		"gain-ruled-out",
		"no-promise-after-job-1",
		"no-promise-after-job-2"
	])
});
/** A stored evidence state, as orders carry it; every number in it is finite. */
const evidenceState = strictObject({
	rule,
	differences: array(number().nullable()),
	failures: natural,
	keep: strictObject({
		from: natural,
		ln: bets,
		sums: sums.nullable()
	}),
	drop: bets,
	screened: strictObject({
		job: natural,
		ln: number()
	}).nullable(),
	jobs: array(job),
	decided: decided.nullable()
});
// src/decide/evidence/suite-maximum.ts
/**
* The largest evidence that `pairs` pairs of a suite can give (decision 3.1.3), so that one that can never reach
* its threshold is refused before anything is spent. Pass/fail: every task is won; graded: every difference is
* a gain and larger than all before.
*/
function largestSuiteEvidence(pairs, scores = "pass-fail") {
	if (!Number.isInteger(pairs) || pairs < 0) throw new UserError(`a suite cannot have ${pairs} pairs`);
	const order = Array.from({ length: pairs }, (_, index) => index + 1);
	switch (scores) {
		case "pass-fail": return bettingEvidence(order.map(() => 1));
		case "graded": return evidenceOf(lnEvidence(order, 0));
		default: return scores;
	}
}
export { ConflictError, ForgeError, HarnessError, LedgerError, SpecErrors, UserError, assess, audit, bettingEvidence, calibrationOf, campaignLevel, chanceToKeep, committedSpec, confidenceInterval, decideStability, effectOf, emptyCampaign, endJob, eventId, evidenceOf, evidenceState, expectedCost, familyLevel, fold, forecast, guardrailVerdict, hodgesLehmann, intervalOf, largestSuiteEvidence, lnEvidence, lnEvidencePath, objectiveLevel, observePair, openHands, openWorkshop, parseDecidePayload, parseEvent, parseSpec, plan, regressionCheck, replay, resume, run, sameFamily, signedDifference, simplificationHolds, smallestVisibleGain, startCampaign, startEvidence, statusOf, statusView, tick, tieBreakerHolds, verdict, verdictOf, waysOut };
