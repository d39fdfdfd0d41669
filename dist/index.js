import { At as tuple, Ct as array, D as committedSpec, Dt as number, Ft as LedgerError, It as UserError, Mt as ConflictError, Nt as ForgeError, Ot as strictObject, Pt as HarnessError, St as _enum, U as assess, a as statusView, at as fold, ft as emptyCampaign, h as openWorkshop, jt as union, k as startCampaign, kt as string, l as plan, n as parseDecidePayload, nt as parseEvent, o as run, pt as parseSpec, q as decideStability, r as audit, s as tick, st as verdictOf, t as replay, tt as eventId, wt as boolean, x as openHands, yt as SpecErrors } from "./shared2.js";
// src/decide/evidence/rank-evidence.ts
const BETS$1 = [.7, 1.5];
const NO_BETS = [0, 0];
/** ln(1 + exp(x)) without overflow. */
function softplus(x) {
	return x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x));
}
function lnFactor(bet, z) {
	return Math.LN2 - softplus(-2 * bet * z);
}
function valueOf(difference) {
	return difference ?? Number.NEGATIVE_INFINITY;
}
/**
* z of the difference `last` among those from `from` up to it, about theta: its sign times 2 r/(i + 1), where r is the
* rank of |d - theta| at the moment it arrives (ties count one half). Ranks of earlier pairs never change, so
* one more pair costs one pass.
*/
function placing(differences, from, theta, last = differences.length - 1) {
	const shifted = valueOf(differences[last]) - theta;
	const size = Math.abs(shifted);
	let rank = 1;
	for (let index = from; index < last; index++) {
		const other = Math.abs(valueOf(differences[index]) - theta);
		if (other < size) rank += 1;
		else if (other === size) rank += .5;
	}
	return Math.sign(shifted) * 2 * rank / (last - from + 2);
}
function raised([first, second], z) {
	return [first + lnFactor(BETS$1[0], z), second + lnFactor(BETS$1[1], z)];
}
/** ln of the mean of two values given by their ln. */
function lnMean([first, second]) {
	return Math.max(first, second) + Math.log1p(Math.exp(-Math.abs(first - second))) - Math.LN2;
}
/** ln E after each pair, for H0: effect <= theta0. */
function lnEvidencePath(differences, theta0) {
	let bets = NO_BETS;
	return differences.map((_, index) => {
		bets = raised(bets, placing(differences, 0, theta0, index));
		return lnMean(bets);
	});
}
/**
* The sign-symmetric rank e-process (decision 3.2), as ln E, for H0: effect <= theta0:
* E = mean over c in {0.7, 1.5} of prod 2/(1 + exp(-2 c z_j)). Identical behaviour in an order drawn by coin
* makes each sign fair given the sizes, so E stays fair whatever drift, spikes or tails; one pair at most
* doubles it. No pair: ln E = 0.
*/
function lnEvidence(differences, theta0) {
	return lnEvidencePath(differences, theta0).at(-1) ?? 0;
}
/** E from ln E; never infinite, so that it can be stored. */
function evidenceOf(ln) {
	return Math.min(Math.exp(ln), Number.MAX_VALUE);
}
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
// src/decide/evidence/crossing.ts
/** After which pair E(d - theta) first reached `threshold`; Infinity: not yet. */
function firstReached(differences, theta, threshold) {
	const at = lnEvidencePath(differences, theta).findIndex((ln) => ln >= Math.log(threshold));
	return at < 0 ? Number.POSITIVE_INFINITY : at;
}
/** The same differences seen from the other side: what was better is worse. */
function turned(differences) {
	return differences.map((difference) => 0 - valueOf(difference));
}
// src/decide/evidence/hodges-lehmann.ts
/** All means of two differences (each with itself too), in order: where ranks or signs about theta change. */
function walshAverages(differences) {
	const averages = new Float64Array(differences.length * (differences.length + 1) / 2);
	let at = 0;
	for (const [index, first] of differences.entries()) for (let other = 0; other <= index; other++) averages[at++] = valueOf(first) / 2 + valueOf(differences[other]) / 2;
	return averages.sort();
}
/**
* The Hodges-Lehmann estimate (decision 3.2): the median of all Walsh averages. NaN without a pair, -Infinity
* when failed candidates outweigh the rest.
*/
function hodgesLehmann(differences) {
	const averages = walshAverages(differences);
	const upper = averages[averages.length >> 1] ?? NaN;
	if (averages.length % 2 === 1) return upper;
	return ((averages[(averages.length >> 1) - 1] ?? NaN) + upper) / 2;
}
// src/decide/evidence/confidence-interval.ts
/** Ranks and signs about theta change at Walsh averages only, so one point of each gap says all. */
function pointsBetween(averages) {
	const first = averages[0] ?? 0;
	const last = averages.at(-1) ?? 0;
	const inner = averages.slice(1).map((average, index) => (average + (averages[index] ?? average)) / 2);
	return [
		first - 1,
		...inner,
		last + 1
	];
}
/** The first of the points, from where theta is refuted on, at which it no longer is; -1: nowhere refuted. */
function firstOpen(points, refuted) {
	if (!refuted(points[0] ?? 0)) return -1;
	let known = 0;
	let open = points.length - 1;
	while (open - known > 1) {
		const middle = known + open >> 1;
		if (refuted(points[middle] ?? 0)) known = middle;
		else open = middle;
	}
	return open;
}
/**
* The confidence sequence of the rank process (decision 3.2): all theta with E(d - theta) and E(theta - d) below
* 2/(1 - level), its ends found by bisection. Valid however often it is looked at; null while unbounded, as it
* always is below 7 pairs.
*/
function confidenceInterval(differences, { level = .95 } = {}) {
	if (!(level > 0 && level < 1)) throw new UserError(`a confidence level of ${level} is not between 0 and 1`);
	const averages = [...new Set(walshAverages(differences))].filter((average) => Number.isFinite(average));
	const points = pointsBetween(averages);
	const bound = Math.log(2 / (1 - level));
	const reversed = turned(differences);
	const low = firstOpen(points, (theta) => lnEvidence(differences, theta) >= bound);
	const high = firstOpen(points.toReversed(), (theta) => lnEvidence(reversed, -theta) >= bound);
	const lowest = averages[low - 1];
	const highest = averages[averages.length - high];
	return lowest === void 0 || highest === void 0 ? null : [lowest, highest];
}
// src/decide/evidence/difference.ts
const GRID = 2 ** 40;
function finite(value) {
	if (Number.isFinite(value)) return value;
	throw new HarnessError(`a measured value is ${value}: a failed execution has to be given as null`);
}
function logarithm(value) {
	if (value > 0) return Math.log(value);
	throw new HarnessError(`the metric is compared on a log scale, and a value of it is ${value}`, { example: "a value above 0; a metric that can be 0 or less needs evidence.scale: linear" });
}
/** Rounded far below any noise, so that equal ratios are equal in whatever unit the metric is printed. */
function gridded(difference) {
	return Math.sign(difference) * Math.round(Math.abs(difference) * GRID) / GRID;
}
function plainDifference(scale, base, candidate) {
	switch (scale) {
		case "log": return gridded(logarithm(base) - logarithm(candidate));
		case "linear": return finite(base - candidate);
		default: return scale;
	}
}
/**
* The paired difference d (decision 3.1): ln(base) - ln(candidate) under log, base - candidate under linear,
* turned so that positive is better whatever the direction. Exactly antisymmetric in its two values.
*/
function signedDifference({ direction, scale }, base, candidate) {
	const difference = plainDifference(scale, finite(base), finite(candidate));
	if (difference === 0) return 0;
	return direction === "minimize" ? difference : -difference;
}
// src/decide/evidence/family.ts
const OVERLAP = .6;
function sameSet(a, b) {
	return a.size === b.size && [...a].every((file) => b.has(file));
}
/**
* Whether two ideas are one family (decision 3.4): declared so, or the same files and at least 60 % overlap of
* the changed lines. Overlap counts from the smaller change, so that padding does not make a new idea.
*/
function sameFamily(a, b) {
	if (typeof a.family === "string" && a.family === b.family) return true;
	if (!sameSet(new Set(a.files), new Set(b.files))) return false;
	const lines = new Set(a.lines);
	const others = new Set(b.lines);
	const smaller = Math.min(lines.size, others.size);
	const shared = [...lines].filter((line) => others.has(line)).length;
	return smaller > 0 && shared >= OVERLAP * smaller;
}
// src/decide/evidence/job.ts
const CHECKS = [{
	share: 1 / 4,
	reason: "no-promise-after-job-1"
}, {
	share: 1 / 2,
	reason: "no-promise-after-job-2"
}];
function begun(state, { job, runner = String(job) }) {
	const { jobs, decided, rule } = state;
	if (decided === null && jobs.length >= rule.max_jobs) throw new UserError(`evidence: job ${job} would be one more than max_jobs ${rule.max_jobs}`, { fix: "resume the state with more jobs first" });
	return [...jobs, {
		id: job,
		runner,
		pairs: 0,
		void_pairs: 0,
		base_first: 0,
		ended: false
	}];
}
function continued(state, { job, runner }) {
	const current = state.jobs.at(-1);
	if (state.decided === null && current?.ended === true) throw new UserError(`evidence: job ${job} has ended and takes no more pairs`);
	if (runner !== void 0 && runner !== current?.runner) throw new UserError(`evidence: job ${job} ran on ${current?.runner}, and a pair of it on ${runner}`);
	return state.jobs;
}
function jobsWithTurn(state, turn) {
	if (state.jobs.at(-1)?.id === turn.job) return continued(state, turn);
	if (state.jobs.some(({ id }) => id === turn.job)) throw new UserError(`evidence: job ${turn.job} was followed by another and takes no more pairs`);
	return begun(state, turn);
}
/** The state with one more pair on the account of its job; a job not seen before ends the one before it. */
function withTurn(state, turn, counted) {
	const jobs = jobsWithTurn(state, turn);
	const rewritten = jobs.map((job, index) => {
		if (index < jobs.length - 1) return job.ended ? job : {
			...job,
			ended: true
		};
		return {
			...job,
			pairs: job.pairs + (counted ? 1 : 0),
			void_pairs: job.void_pairs + (counted ? 0 : 1),
			base_first: job.base_first + (turn.order === "base-first" ? 1 : 0)
		};
	});
	return {
		...state,
		jobs: rewritten
	};
}
function currentJobEnded(state) {
	const last = state.jobs.length - 1;
	return {
		...state,
		jobs: state.jobs.map((job, index) => index === last ? {
			...job,
			ended: true
		} : job)
	};
}
/** The two checks that need no guarantee (decision 3.3): HL <= theta1/4 after job 1, <= theta1/2 after job 2. */
function afterWholeJob(state) {
	const ended = currentJobEnded(state);
	const check = CHECKS[state.jobs.length - 1];
	if (check === void 0 || state.decided !== null || state.differences.length === 0) return ended;
	if (hodgesLehmann(state.differences) > check.share * state.rule.min_effect) return ended;
	return {
		...ended,
		decided: {
			status: "drop",
			reason: check.reason
		}
	};
}
/**
* The runner says that `job` is over. `whole: false` (a deadline, a machine that went away) leaves out the check
* of a job that ran to its end. A job that has ended already stays as it is.
*/
function endJob(state, job, { whole = true } = {}) {
	const known = state.jobs.find(({ id }) => id === job);
	if (known === void 0) throw new UserError(`evidence: job ${job} has no pair and cannot end`);
	if (known.ended) return state;
	return whole ? afterWholeJob(state) : currentJobEnded(state);
}
// src/decide/evidence/variance-prior.ts
const PRIOR_PAIRS = 6;
/** In units of min_effect: with one alternative only, gains far above it would gather evidence no faster. */
const ALTERNATIVES = [
	1,
	2.5,
	5
];
const NO_SUMS = {
	pairs: 0,
	about_null: 0,
	about_alternatives: ALTERNATIVES.map(() => 0)
};
/** One more pair. A failed candidate ends this half of the evidence: an infinite loss has no likelihood. */
function summed(sums, difference, prior) {
	if (sums === null || difference === null) return null;
	return {
		pairs: sums.pairs + 1,
		about_null: sums.about_null + (difference - prior.null_effect) ** 2,
		about_alternatives: sums.about_alternatives.map((sum, index) => sum + (difference - (ALTERNATIVES[index] ?? 1) * prior.min_effect) ** 2)
	};
}
/**
* ln of the GSPRT likelihood ratio with a variance prior (decision 2b, nu0 = 6, s0 = noise), the mean over
* alternatives: [(nu0 s0^2 + S_null)/(nu0 s0^2 + S_alternative)]^((nu0 + n)/2).
*/
function lnVarianceRatio(sums, noise) {
	const prior = PRIOR_PAIRS * noise ** 2;
	const top = Math.log(prior + sums.about_null);
	const power = (PRIOR_PAIRS + sums.pairs) / 2;
	const ratios = sums.about_alternatives.map((sum) => power * (top - Math.log(prior + sum)));
	const most = Math.max(...ratios);
	return most + Math.log(ratios.reduce((total, ratio) => total + Math.exp(ratio - most), 0) / ratios.length);
}
// src/decide/evidence/keep-side.ts
/** The keep side after the newest difference of the state. */
function keepSideRaised({ rule, differences, keep }) {
	const { from, ln, sums } = keep;
	const { noise, null_effect } = rule;
	const newest = differences.at(-1) ?? null;
	return {
		from,
		ln: raised(ln, placing(differences, from, null_effect)),
		sums: noise === null ? null : summed(sums, newest, {
			...rule,
			noise
		})
	};
}
/** After the screen ranks and sums start again; what was gathered is carried as one number. */
function keepSideAnew({ rule, differences }) {
	return {
		from: differences.length,
		ln: NO_BETS,
		sums: rule.noise === null ? null : NO_SUMS
	};
}
/** ln E since the screen: the rank process, or under the hybrid its weighted mean with the likelihood ratio. */
function lnStage({ rule, keep }) {
	const rank = lnMean(keep.ln);
	if (rule.noise === null) return rank;
	const ranked = rank + Math.log(1 - rule.ratio_share);
	if (keep.sums === null) return ranked;
	return lnMean([ranked, lnVarianceRatio(keep.sums, rule.noise) + Math.log(rule.ratio_share)]) + Math.LN2;
}
/** ln E_total = ln E_screen + ln E_fresh (decision 3.3). */
function lnTotal(state) {
	return (state.screened?.ln ?? 0) + lnStage(state);
}
// src/decide/evidence/runners.ts
/** What makes two jobs the same runner: the boot id; on one machine every job is a runner of its own. */
function identity({ rule }, job) {
	return rule.single_machine ? job.id : job.runner;
}
function distinct(state, jobs) {
	return new Set(jobs.filter(({ pairs }) => pairs > 0).map((job) => identity(state, job)));
}
/**
* Whether enough machines took part for a keep (decision 3.3): since the screen, fresh ones, which the one that
* screened is not; and enough in all.
*/
function enoughRunners(state) {
	const { rule, screened, jobs } = state;
	if (distinct(state, jobs).size < rule.runners) return false;
	if (screened === null) return true;
	const fresh = distinct(state, jobs.slice(screened.job + 1));
	const screener = jobs[screened.job];
	if (screener !== void 0) fresh.delete(identity(state, screener));
	return fresh.size >= rule.fresh_runners;
}
// src/decide/evidence/observe-pair.ts
const DROP_AT = Math.log(5);
const FAILURES_THAT_END = 2;
function weighed(state, difference) {
	const counted = {
		...state,
		differences: [...state.differences, difference],
		failures: state.failures + (difference === null ? 1 : 0)
	};
	if (state.decided !== null) return counted;
	const drop = raised(state.drop, -placing(counted.differences, 0, state.rule.min_effect));
	return {
		...counted,
		drop,
		keep: keepSideRaised(counted)
	};
}
function dropped(state) {
	if (state.failures >= FAILURES_THAT_END) return "broken";
	return lnMean(state.drop) >= DROP_AT ? "gain-ruled-out" : null;
}
function screens({ rule, screened }, ln) {
	return rule.screen !== null && screened === null && ln >= Math.log(rule.screen);
}
function keeps(state) {
	const { rule, screened } = state;
	if (rule.screen !== null && (screened === null || lnStage(state) <= 0)) return false;
	return lnTotal(state) >= -Math.log(rule.level) && enoughRunners(state);
}
/** The order after each pair (decision 3.3): drop, screen or keep, end of job. */
function judged(state) {
	if (state.decided !== null) return state;
	const reason = dropped(state);
	if (reason !== null) return {
		...state,
		decided: {
			status: "drop",
			reason
		}
	};
	const ln = lnStage(state);
	if (screens(state, ln)) {
		const screened = {
			job: state.jobs.length - 1,
			ln
		};
		return currentJobEnded({
			...state,
			screened,
			keep: keepSideAnew(state)
		});
	}
	if (keeps(state)) return {
		...state,
		decided: {
			status: "keep",
			reason: "gain-shown"
		}
	};
	return (state.jobs.at(-1)?.pairs ?? 0) >= state.rule.pairs_per_job ? afterWholeJob(state) : state;
}
function checkFinite(value, side) {
	if (value === null || Number.isFinite(value)) return;
	throw new UserError(`evidence: the ${side}'s value is ${value}`, { fix: "give a failed execution as null" });
}
/**
* The state after one more pair; the given one is left as it is. A failed base makes the pair void, a failed
* candidate a loss of the highest rank, and two of them the end (invariant 5). What is observed after a verdict (for
* guardrails, say) is recorded for effect and interval and changes no verdict.
*/
function observePair(state, pair) {
	const { base, candidate } = pair;
	checkFinite(base, "base");
	checkFinite(candidate, "candidate");
	if (base === null) return withTurn(state, pair, false);
	const difference = candidate === null ? null : signedDifference(state.rule, base, candidate);
	return judged(weighed(withTurn(state, pair, true), difference));
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
// src/decide/evidence/start-evidence.ts
const LOOSER_LEVEL = .05;
const LEVEL = .01;
function demand(holds, what, fix) {
	if (!holds) throw new UserError(`evidence: ${what}`, { fix });
}
function demandWhole(name, value, least) {
	demand(Number.isInteger(value) && value >= least, `${name} is ${value}`, `give a whole number of at least ${least}`);
}
function levelOf({ confirmed, combination, alpha }) {
	if (confirmed === true) return LOOSER_LEVEL;
	return alpha ?? (combination === true ? LOOSER_LEVEL : LEVEL);
}
function checkRule(rule) {
	const { min_effect, null_effect, level, screen, noise, ratio_share } = rule;
	const positive = "give a finite number above 0";
	demand(Number.isFinite(min_effect) && min_effect > 0, `minEffect is ${min_effect}`, positive);
	demand(null_effect >= 0 && null_effect < min_effect, `nullEffect is ${null_effect}`, `give a number from 0 to below minEffect (${min_effect})`);
	demand(level > 0 && level < 1, `the level is ${level}`, "give an alpha above 0 and below 1");
	demand(screen === null || Number.isFinite(screen) && screen > 1, `screen is ${screen}`, "give more than 1");
	demand(noise === null || Number.isFinite(noise) && noise > 0, `hybrid.noise is ${noise}`, positive);
	demand(ratio_share > 0 && ratio_share < 1, `hybrid.share is ${ratio_share}`, "give a share between 0 and 1");
	demandWhole("pairsPerJob", rule.pairs_per_job, 1);
	demandWhole("maxJobs", rule.max_jobs, 1);
	demandWhole("freshRunners", rule.fresh_runners, 0);
}
function ruleOf(options) {
	const { direction, minEffect, singleMachine = false, freshRunners = 1, m = 1 } = options;
	demandWhole("m", m, 1);
	const unscreened = options.confirmed === true || options.combination === true || freshRunners === 0;
	return {
		direction,
		scale: options.scale ?? "log",
		min_effect: minEffect,
		null_effect: options.nullEffect ?? minEffect / (singleMachine ? 2 : 4),
		level: levelOf(options) / m,
		screen: unscreened ? null : options.screen ?? 20,
		pairs_per_job: options.pairsPerJob ?? 8,
		max_jobs: options.maxJobs ?? 8,
		fresh_runners: freshRunners,
		runners: Math.max(freshRunners + 1, options.combination === true ? 2 : 1),
		single_machine: singleMachine,
		noise: options.hybrid?.noise ?? null,
		ratio_share: options.hybrid?.share ?? .5
	};
}
/** The state before the first pair of one (base tree, candidate tree, harness): E = 1 (decision 3.2 to 3.4). */
function startEvidence(options) {
	const rule = ruleOf(options);
	checkRule(rule);
	return {
		rule,
		differences: [],
		failures: 0,
		keep: {
			from: 0,
			ln: NO_BETS,
			sums: rule.noise === null ? null : NO_SUMS
		},
		drop: NO_BETS,
		screened: null,
		jobs: [],
		decided: null
	};
}
// src/decide/evidence/verdict.ts
const HARM_AT = Math.log(20);
/** The status alone: what a job asks after every pair. It costs nothing, unlike `verdict`. */
function statusOf({ decided, jobs, rule, screened }) {
	if (decided !== null) return decided;
	const current = jobs.at(-1);
	if (current === void 0) return {
		status: "new-job",
		reason: "not-begun"
	};
	if (!current.ended) return {
		status: "continue",
		reason: "measuring"
	};
	if (jobs.length >= rule.max_jobs) return {
		status: "park",
		reason: "jobs-used-up"
	};
	return {
		status: "new-job",
		reason: screened?.job === jobs.length - 1 ? "promising" : "job-ended"
	};
}
/** The 95 % interval of all pairs (decision 3.2), by bisection: ask for it only where somebody reads it. */
function intervalOf({ differences }) {
	return confidenceInterval(differences);
}
/** Whether harm is shown, E(-d) >= 20: worse, and not only unproven. A failed candidate counts as harm. */
function harmShown(differences) {
	return lnEvidence(turned(differences), 0) >= HARM_AT;
}
/** Status, evidence, effect and interval of a state (decision 3.3, 3.6): a pure function of it (invariant 3). */
function verdict(state) {
	const { rule, differences, jobs, screened } = state;
	const standing = statusOf(state);
	const screening = rule.screen !== null && screened === null;
	const effect = hodgesLehmann(differences);
	const final = standing.status !== "continue" && standing.status !== "new-job";
	return {
		...standing,
		evidence: evidenceOf(lnTotal(state)),
		threshold: screening ? rule.screen ?? 1 : 1 / rule.level,
		effect: Number.isFinite(effect) ? effect : null,
		interval: final ? intervalOf(state) : null,
		pairs: differences.length,
		jobs: jobs.length,
		worse: harmShown(differences),
		stage: screening ? "screening" : "confirming",
		screened: screened !== null
	};
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
// src/decide/evidence/guardrail.ts
const SHOWN$2 = 20;
/**
* A guardrail's own differences against its margin (decision 3.4): harmless once E(d + margin) >= 20, harmful
* once E(-d) >= 20, whichever comes first (both at once: harmful). Open is not harmless: measure on.
*/
function guardrailVerdict(differences, margin) {
	const harmless = firstReached(differences, -margin, SHOWN$2);
	const harmful = firstReached(turned(differences), 0, SHOWN$2);
	if (harmless < harmful) return "harmless";
	return Number.isFinite(harmful) ? "harmful" : "open";
}
// src/decide/evidence/levels.ts
function whole(name, value, least) {
	if (Number.isInteger(value) && value >= least) return value;
	throw new UserError(`${name} is ${value}, and has to be a whole number of at least ${least}`);
}
function share(name, value) {
	if (value > 0 && value < 1) return value;
	throw new UserError(`${name} is ${value}, and has to lie between 0 and 1`);
}
/**
* e-LOND (decision 3.5): alpha_t = q (K + 1)/N for the next of at most N experiments when K were discoveries, so
* that at most a share q of all discoveries is false, whatever depends on whatever.
*/
function campaignLevel({ q, n, discoveries }) {
	const level = share("q", q) * (whole("discoveries", discoveries, 0) + 1) / whole("n", n, 1);
	return Math.min(level, q);
}
/** The level of the k-th variant of one idea (decision 3.4): alpha 6/(pi^2 k^2), which adds up to alpha. */
function familyLevel(alpha, k) {
	return share("alpha", alpha) * 6 / (Math.PI * whole("k", k, 1)) ** 2;
}
/** The level of each of m required objectives (decision 3.4): alpha/m. */
function objectiveLevel(alpha, m) {
	return share("alpha", alpha) / whole("m", m, 1);
}
// src/decide/evidence/spread.ts
/** MAD of a normal distribution times this is its standard deviation. */
const NORMAL = 1.4826;
function sampleSd(values) {
	if (values.length < 2) return null;
	const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
	return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
function sizesOf(differences) {
	return differences.map(Math.abs).toSorted((a, b) => a - b);
}
/** Where more than half of all pairs tie exactly, the MAD is 0 and says nothing. */
function orPlain(spread, differences) {
	return spread > 0 ? spread : Math.sqrt(differences.reduce((sum, d) => sum + d * d, 0) / differences.length);
}
/** 1.4826 times the median size of a difference: the coin has made 0 their middle. */
function robustSpread(differences) {
	const sizes = sizesOf(differences);
	const upper = sizes[sizes.length >> 1] ?? NaN;
	const lower = sizes[sizes.length - 1 >> 1] ?? NaN;
	return orPlain(NORMAL * (lower + upper) / 2, differences);
}
/**
* The upper confidence limit of the above, from the binomial law of how many sizes lie below their median:
* exact whatever the distribution. Null when there are too few pairs for one.
*/
function robustSpreadUpper(differences, confidence) {
	const sizes = sizesOf(differences);
	let lnChance = -sizes.length * Math.LN2;
	let below = 0;
	for (const [index, size] of sizes.entries()) {
		below += Math.exp(lnChance);
		if (below >= confidence) return orPlain(NORMAL * size, differences);
		lnChance += Math.log((sizes.length - index) / (index + 1));
	}
	return null;
}
// src/decide/evidence/noise-calibration.ts
const BIASED_AT = 20;
function valuesOf({ pairs }) {
	return pairs.flatMap(({ base, candidate }) => [base, candidate]);
}
function scaleOf(values, asked) {
	return asked ?? (values.every((value) => value > 0) ? "log" : "linear");
}
function isDeterministic(jobs, values) {
	return jobs.filter(({ pairs }) => pairs.length > 0).length >= 2 && values.length >= 3 && new Set(values).size === 1;
}
function isFair(differences) {
	return [differences, turned(differences)].map((side) => firstReached(side, 0, BIASED_AT)).every((at) => at === Number.POSITIVE_INFINITY);
}
/** Means of the jobs, in the units of the scale. */
function levelsOf(jobs, scale) {
	return jobs.map(valuesOf).filter((values) => values.length > 0).map((values) => {
		const levels = values.map((value) => scale === "log" ? Math.log(value) : value);
		return levels.reduce((sum, level) => sum + level, 0) / levels.length;
	});
}
/**
* Step 0 of a campaign (decision 3.8): what pairs of the same tree say about noise, scale, determinism, and
* whether the harness treats both sides alike. Not fair means: refuse to start.
*/
function calibrationOf(jobs, { scale: asked } = {}) {
	const values = jobs.flatMap(valuesOf);
	if (values.length === 0) throw new UserError("a calibration needs at least one pair");
	const scale = scaleOf(values, asked);
	const measure = {
		direction: "minimize",
		scale
	};
	const pairs = jobs.flatMap((job) => job.pairs);
	const differences = pairs.map(({ base, candidate }) => signedDifference(measure, base, candidate));
	return {
		deterministic: isDeterministic(jobs, values),
		scale,
		pair_sd: robustSpread(differences),
		pair_sd_upper90: robustSpreadUpper(differences, .9),
		between_job_sd: sampleSd(levelsOf(jobs, scale)),
		fair: isFair(differences),
		pairs: pairs.length,
		jobs: jobs.filter((job) => job.pairs.length > 0).length
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
// src/decide/evidence/regression-check.ts
const REVERT_AT = 100;
const CLEAR_AT = 20;
/**
* A merge measured again, tip against the tree before it (decision 3.7): revert once E(-d) >= 100, clear once
* E(d + theta1) >= 20, whichever comes first; open until then, and continued with the next job's pairs.
*/
function regressionCheck(differences, minEffect) {
	const revert = firstReached(turned(differences), 0, REVERT_AT);
	if (firstReached(differences, -minEffect, CLEAR_AT) < revert) return "clear";
	return Number.isFinite(revert) ? "revert" : "open";
}
// src/decide/evidence/reported-effect.ts
/**
* The effect to report (decision 3.6): Hodges-Lehmann and 95 % interval of pairs that no stopping rule chose, from
* one more job after a keep, or the progression test.
*/
function effectOf(differences) {
	const effect = hodgesLehmann(differences);
	return {
		effect: Number.isFinite(effect) ? effect : null,
		interval: confidenceInterval(differences),
		pairs: differences.length
	};
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
// src/decide/evidence/simplification.ts
const SHOWN$1 = Math.log(20);
/** Whether a simplification may merge (decision 3.4): it is shown to cost less than min_effect, E(d + theta1) >= 20. */
function simplificationHolds(differences, minEffect) {
	return lnEvidence(differences, -minEffect) >= SHOWN$1;
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
// src/decide/evidence/tie-breaker.ts
const SHOWN = Math.log(20);
/**
* Whether a tie-breaker may decide (decision 3.4): the primary is shown to lose less than min_effect,
* E(d + min_effect) >= 20, and the tie-breaker gains, its own E >= 1/alpha_t.
*/
function tieBreakerHolds({ differences, minEffect, own, level }) {
	return lnEvidence(differences, -minEffect) >= SHOWN && lnEvidence(own, 0) >= -Math.log(level);
}
export { ConflictError, ForgeError, HarnessError, LedgerError, SpecErrors, UserError, assess, audit, bettingEvidence, calibrationOf, campaignLevel, chanceToKeep, committedSpec, confidenceInterval, decideStability, effectOf, emptyCampaign, endJob, eventId, evidenceOf, evidenceState, expectedCost, familyLevel, fold, forecast, guardrailVerdict, hodgesLehmann, intervalOf, largestSuiteEvidence, lnEvidence, lnEvidencePath, objectiveLevel, observePair, openHands, openWorkshop, parseDecidePayload, parseEvent, parseSpec, plan, regressionCheck, replay, resume, run, sameFamily, signedDifference, simplificationHolds, smallestVisibleGain, startCampaign, startEvidence, statusOf, statusView, tick, tieBreakerHolds, verdict, verdictOf, waysOut };
