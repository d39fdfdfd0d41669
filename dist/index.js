import { D as committedSpec, Dt as HarnessError, Et as ForgeError, Ot as LedgerError, Tt as ConflictError, U as assess, a as statusView, at as fold, ft as emptyCampaign, h as openWorkshop, k as startCampaign, kt as UserError, l as plan, n as parseDecidePayload, nt as parseEvent, o as run, pt as parseSpec, q as decideStability, r as audit, s as tick, st as verdictOf, t as replay, tt as eventId, x as openHands, yt as SpecErrors } from "./shared2.js";
// src/decide/evidence/rank-evidence.ts
const BETS = [.7, 1.5];
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
	return [first + lnFactor(BETS[0], z), second + lnFactor(BETS[1], z)];
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
	const reversed = differences.map((difference) => 0 - valueOf(difference));
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
/** Rounded far below any noise, so that equal ratios stay equal in whatever unit the metric is printed. */
function logarithm(value) {
	if (value > 0) return Math.round(Math.log(value) * GRID) / GRID;
	throw new HarnessError(`the metric is compared on a log scale, and a value of it is ${value}`, { example: "a value above 0; a metric that can be 0 or less needs evidence.scale: linear" });
}
function plainDifference(scale, base, candidate) {
	switch (scale) {
		case "log": return logarithm(base) - logarithm(candidate);
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
/** ln E since the screen: the rank process, or under the hybrid its mean with the likelihood ratio. */
function lnStage({ rule, keep }) {
	const rank = lnMean(keep.ln);
	if (rule.noise === null) return rank;
	if (keep.sums === null) return rank - Math.LN2;
	return lnMean([rank, lnVarianceRatio(keep.sums, rule.noise)]);
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
* candidate a loss of the highest rank, and two of them the end. What is observed after a verdict (for
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
	const { min_effect, null_effect, level, screen, noise } = rule;
	const positive = "give a finite number above 0";
	demand(Number.isFinite(min_effect) && min_effect > 0, `minEffect is ${min_effect}`, positive);
	demand(null_effect >= 0 && null_effect < min_effect, `nullEffect is ${null_effect}`, `give a number from 0 to below minEffect (${min_effect})`);
	demand(level > 0 && level < 1, `the level is ${level}`, "give an alpha above 0 and below 1");
	demand(screen === null || Number.isFinite(screen) && screen > 1, `screen is ${screen}`, "give more than 1");
	demand(noise === null || Number.isFinite(noise) && noise > 0, `hybrid.noise is ${noise}`, positive);
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
		noise: options.hybrid?.noise ?? null
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
	return lnEvidence(differences.map((difference) => 0 - valueOf(difference)), 0) >= HARM_AT;
}
/** Status, evidence, effect and interval of a state (decision 3.3 and 3.6); a pure function of it. */
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
export { ConflictError, ForgeError, HarnessError, LedgerError, SpecErrors, UserError, assess, audit, committedSpec, confidenceInterval, decideStability, emptyCampaign, endJob, eventId, fold, hodgesLehmann, intervalOf, lnEvidence, observePair, openHands, openWorkshop, parseDecidePayload, parseEvent, parseSpec, plan, replay, resume, run, signedDifference, startCampaign, startEvidence, statusOf, statusView, tick, verdict, verdictOf };
