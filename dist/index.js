import { At as objectiveLevel, Bt as eventId, Cn as LedgerError, Ct as tieBreakerHolds, Dt as lnEvidencePath, E as startCampaign, Et as lnEvidence, Kt as verdictOf, Ot as campaignLevel, Q as assess, R as statusView, Sn as HarnessError, St as hodgesLehmann, Tt as evidenceOf, Vt as parseEvent, Wt as fold, _n as string, _t as intervalOf, a as tick, bn as ConflictError, d as regressionCheck, dn as array, en as emptyCampaign, f as openWorkshop, fn as boolean, gn as strictObject, hn as number, ht as signedDifference, i as run, jt as sameFamily, kt as familyLevel, lt as startEvidence, mt as endJob, n as parseDecidePayload, pt as observePair, r as audit, rt as effectOf, s as plan, sn as SpecErrors, st as decideStability, t as replay, tn as parseSpec, u as calibrationOf, un as _enum, ut as guardrailVerdict, v as openHands, vn as tuple, vt as statusOf, w as committedSpec, wn as UserError, wt as simplificationHolds, xn as ForgeError, xt as confidenceInterval, yn as union, yt as verdict } from "./shared2.js";
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
// src/decide/evidence/seeded-random.ts
const STEP = 2654435769;
/** A Weyl sequence through a 32-bit mixer: fast, and far better than planning needs. */
function seededRandom(seed) {
	let state = Math.imul(seed, 2246822507) ^ STEP;
	return () => {
		state = state + STEP | 0;
		let mixed = state ^ state >>> 16;
		mixed = Math.imul(mixed, 569420461);
		mixed = Math.imul(mixed ^ mixed >>> 15, 1935289751);
		return ((mixed ^ mixed >>> 15) >>> 0) / 2 ** 32;
	};
}
function normal(random) {
	return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
/** Student's t with four degrees of freedom: the tails of timings on shared machines. */
function heavyTailed(random) {
	const chiSquared = -2 * Math.log((1 - random()) * (1 - random()));
	return normal(random) / Math.sqrt(chiSquared / 4);
}
// src/decide/evidence/forecast.ts
const RUNS = 1e3;
const EFFECT_SPREAD = .25;
/** 1.4826 times the median size of Student's t with four degrees of freedom. */
const HEAVY_TAILED_SPREAD = 1.0982;
function jobMeasured(state, job, draw) {
	let now = state;
	do
		now = observePair(now, {
			base: 0,
			candidate: draw(),
			job,
			order: "base-first"
		});
	while (statusOf(now).status === "continue");
	return now;
}
function experiment(start, { noise, effect }, random) {
	const { pairSd, effectSpread = start.rule.single_machine ? 0 : EFFECT_SPREAD } = noise;
	let state = start;
	for (let job = 0; statusOf(state).status === "new-job"; job++) {
		const here = effect * (1 + effectSpread * normal(random));
		state = jobMeasured(state, job, () => here + pairSd / HEAVY_TAILED_SPREAD * heavyTailed(random));
	}
	return state;
}
/**
* Experiments simulated under the very rule that judges them (decision 3.8). Run i always draws the same
* numbers, so that forecasts of different effects or noises compare without luck.
*/
function forecast(input) {
	const { noise, options, seed, runs = RUNS } = input;
	if (!(noise.pairSd >= 0 && Number.isFinite(noise.pairSd)) || !Number.isFinite(input.effect)) throw new UserError(`cannot forecast an effect of ${input.effect} under a noise of ${noise.pairSd}`);
	if (!Number.isInteger(runs) || runs < 1) throw new UserError(`cannot forecast with ${runs} runs`);
	const start = startEvidence({
		...options,
		direction: "maximize",
		scale: "linear"
	});
	const total = {
		keep: 0,
		drop: 0,
		park: 0,
		pairs: 0,
		jobs: 0
	};
	for (let run = 0; run < runs; run++) {
		const ended = experiment(start, input, seededRandom(seed + run * 65537));
		const { status } = statusOf(ended);
		if (status === "keep" || status === "drop" || status === "park") total[status] += 1;
		total.pairs += ended.differences.length;
		total.jobs += ended.jobs.length;
	}
	const { keep, drop, park, pairs, jobs } = total;
	return {
		keep: keep / runs,
		drop: drop / runs,
		park: park / runs,
		pairs: pairs / runs,
		jobs: jobs / runs
	};
}
// src/decide/evidence/planning.ts
const VISIBLE = .8;
const STEPS = 10;
/** Gains beyond this many min_effects are not looked for. */
const FARTHEST = 64;
/** The chance that an idea with this true effect is kept (decision 3.8), by simulating the rule itself. */
function chanceToKeep(input) {
	return forecast(input).keep;
}
/** The smallest x in (0, high] that passes, to about 1/1000 of high; all above a passing x pass. */
function smallestPassing(high, passes) {
	let [below, above] = [0, high];
	for (let step = 0; step < STEPS; step++) {
		const middle = (below + above) / 2;
		if (passes(middle)) above = middle;
		else below = middle;
	}
	return above;
}
/** The smallest true gain with an 80 % chance to be kept (decision 3.8); null: none up to 64 min_effect. */
function smallestVisibleGain(input) {
	const visible = (effect) => chanceToKeep({
		...input,
		effect
	}) >= VISIBLE;
	for (let times = 1; times <= FARTHEST; times *= 2) {
		const gain = times * input.options.minEffect;
		if (visible(gain)) return smallestPassing(gain, visible);
	}
	return null;
}
/** What one idea costs on average (decision 3.8): each job warms up both sides before its pairs. */
function expectedCost(input) {
	const { pairs, jobs } = forecast(input);
	const executions = 2 * (pairs + jobs);
	return {
		pairs,
		jobs,
		executions,
		minutes: (executions * input.secondsPerExecution + jobs * input.setupSeconds) / 60
	};
}
const MORE_JOBS = [
	12,
	16,
	24,
	32
];
function enoughJobs(input) {
	const { options } = input;
	const used = startEvidence(options).rule.max_jobs;
	const enough = (maxJobs) => chanceToKeep({
		...input,
		effect: options.minEffect,
		options: {
			...options,
			maxJobs
		}
	}) >= VISIBLE;
	return MORE_JOBS.find((jobs) => jobs > used && enough(jobs)) ?? null;
}
/** Bisection over how much quieter: the loudest noise under which min_effect is visible. */
function quietEnough(input) {
	const { noise, options } = input;
	const visible = (pairSd) => chanceToKeep({
		...input,
		noise: {
			...noise,
			pairSd
		},
		effect: options.minEffect
	}) >= VISIBLE;
	if (!visible(0)) return null;
	return noise.pairSd - smallestPassing(noise.pairSd, (less) => visible(noise.pairSd - less));
}
/** The three ways out where min_effect is too small to be seen (decision 3.8); none where it is visible. */
function waysOut(input) {
	const { minEffect } = input.options;
	if (chanceToKeep({
		...input,
		effect: minEffect
	}) >= VISIBLE) return [];
	const visible = smallestVisibleGain(input);
	return [
		{
			way: "more-jobs",
			max_jobs: enoughJobs(input)
		},
		{
			way: "better-metric",
			times: visible === null ? null : visible / minEffect
		},
		{
			way: "quieter-machine",
			pair_sd: quietEnough(input)
		}
	];
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
