#!/usr/bin/env node
import { $ as removeAll, $n as metricPairs, $r as looseObject, $t as readEventsAfter, A as requireGit, An as evidenceSentence, Ar as isSettled, At as verdictPhrase, B as takeTurn, Bn as BUILT_IN_METRICS, Br as LedgerError, Bt as archive$1, Cn as assess, Ct as progressOf, D as openWorkshop, Dn as nearest, Dr as measuredIn$1, Dt as standingIn, E as dataDirFor, En as containing, Er as jobOf$1, Et as evidenceIn, F as createBareRepository, Fn as evidenceText, Ft as metricsText, G as isPreset, Gn as pairedStop, Gr as packagesText, Gt as candidateFacts, H as neededMetrics, Hn as numberText, Hr as exitCodeOf, Ht as observe$1, I as nullIfMissing, In as evidenceBar, It as snapshotMetrics, J as localIsolation, Jn as standingOf$1, Jr as experimentName, Jt as harnessOf, K as missingAgent, Kn as pairsPerJob, Kr as oneLine, Kt as parse, L as scratchOf, Ln as effectOf$1, Lr as ConflictError, Lt as listed$2, M as inspectCheckout, Mn as effectWords, Mr as levelFor, Mt as campaignResult, N as pushAttempt, Nn as shareOf, Nr as nextShare, Nt as keptExperiments, O as listWorktrees, On as KEBAB, Or as canonicalJson, Ot as capitalised, P as retryLostRaces, Pn as evidenceLine, Pt as metricsLines, Q as unquotePath, Qn as differencesOf, Qr as literal, Qt as readEvents, R as openHands, Rn as decideStability, Rr as ForgeError, Rt as writeLedgerCommit, S as calibrate, Sn as shortRef, Sr as EXIT_CODES, St as gainText$2, T as presentRun, Tn as usesStoredScore, Tr as orderTerms, Tt as statusView, U as berthFor, Un as plural, Ut as specOf, V as measure$1, Vn as changeText, Vr as UserError, Vt as listRefs, W as PRESETS, Wn as ownRequest, Wr as awaitedPackages, Wt as unsupported, X as ownerIsolation, Xr as array, Xt as treeFiles, Y as networkIsolation, Yn as evidenceFor, Yr as _enum, Yt as treeDifferences, Z as asIdea, Zt as loadCampaign, _ as needsCalibration, _n as jsonWithoutOrders, _t as backlogText, a as seesMinEffect, an as parseSpec, ar as readingOf, at as Transaction, b as notComparable, bn as withoutOrders, bt as ideasToTake, cn as timedDecisive, ct as reportedEffect, d as tick$1, dn as additionsText, dt as short, ei as number, en as readTip, et as bootId, f as takeEffect, fn as approveCommand, ft as noisyText, g as directReverts, gn as table, gt as tallyText, h as stopFor, hn as requestText, hr as evidenceOf, ht as calibrationText, i as expectedCost, ii as union, in as emptyCampaign, ir as tieBreakersOf, it as startCampaign, j as allowedRef, jn as effectText, jr as meantExperiment, jt as waitingSentence, k as localPath, kn as KEBAB_TEXT, kr as sha256, kt as standingSentence, l as audit$1, ln as require_dist, lr as verdict, lt as OF_INTEREST, m as ruleThatHolds, mn as deferredOf, mt as sizeText, n as parseDecidePayload, ni as string, nr as signedDifference, nt as committedSpec, o as smallestVisibleGain, on as compileScope, or as objectivesOf, ot as singleMachineText, pn as deferredLines, pt as noiseText, q as gitRunner, qn as resolveEvidence, qr as digest, qt as TomlError, r as chanceToKeep, rn as ideaName, rr as decisiveMetrics, rt as requireSupported, s as waysOut, sn as compilePathspec, st as headline$1, t as replay$1, ti as strictObject, tn as eventPath, tt as isMissing, u as run$1, un as SpecErrors, ur as lnTotal, ut as eventLine, v as needsNoise, vn as plainJson, vr as COMMUTING, vt as ideaView, w as endLeftoversBelow, wn as NOT_NOISE_PROOF, wr as askedIn, wt as experimentView, xn as campaignRefs, xr as typicalMetrics, xt as toTakeLine, y as calibrateNoise, yn as plainText, yr as eventId, yt as ideasInOrder, z as requireCampaign, zn as failureOf$1, zr as HarnessError, zt as openChain } from "./shared2.js";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { randomBytes } from "node:crypto";
import { copyFile, cp, mkdir, mkdtemp, readFile, readdir, realpath, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { accessSync, constants, existsSync, lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
// src/report/demo-text.ts
function demoBegins({ directory }) {
	return [
		"A small program packs messages into bytes; ten ideas want it to need fewer. Every message has to come back.",
		`  ${directory}`,
		"  .winnow/squeeze.yaml says what counts, ideas/ holds what is tried; nothing of it needs a network or a model.",
		""
	];
}
/** What a person types next, each as it can be typed. */
function demoEnds(campaign, { directory, called, leftovers }) {
	const next = nextCommands$1(campaign).map(([words, why]) => [`  ${called} ${words}`, `# ${why}`]);
	return [
		"Next:",
		`  cd ${quoted$6(directory)}`,
		...table(next),
		"To remove all of it:",
		`  rm -rf ${leftovers.map(quoted$6).join(" ")}`
	];
}
function nextCommands$1(campaign) {
	const dropped = withOutcome(campaign, "runner_up_dropped");
	const [deferred] = deferredOf(campaign);
	const commands = [["audit", "every commit that was kept, proven from git alone"]];
	if (dropped) commands.unshift([`show ${dropped.id}`, "better alone, and worse on top of what was kept"]);
	if (deferred) commands.push(["approve", `what ${deferred.id} would add`], [`approve ${deferred.id}`, "say yes to it"], ["run", "and measure it"]);
	return commands;
}
function withOutcome({ experiments }, outcome) {
	return Object.values(experiments).find((each) => each.outcome === outcome);
}
/** As a shell reads it back. */
function quoted$6(path) {
	return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
// src/cli/called-as.ts
const NAMES = /* @__PURE__ */ new Set(["winnow", "git-winnow"]);
/** What a person types to start this program again, from any directory. */
function calledAs(script, env) {
	if (env["npm_command"] === "exec") return "npx git-winnow";
	const name = basename(script);
	const onPath = (env["PATH"] ?? "").split(":").includes(dirname(script));
	return NAMES.has(name) && onPath ? name : `node ${quoted$6(script)}`;
}
// src/engine/amend.ts
/** A person's own change of the spec, not committed anywhere: the ledger records it whole, with the reason. */
async function amend$1(place, change) {
	const { repository } = place;
	const { refs } = await listRefs(place);
	const state = refs.get(place.refs.state);
	if (state === void 0) throw new UserError(`no campaign ${place.name} was started`, { fix: "winnow run" });
	await repository.fetch([{
		ref: place.refs.state,
		oid: state
	}]);
	const loaded = await loadCampaign(repository, state);
	const { campaign } = loaded;
	const parsed = parseSpec(change.yaml, { file: campaign.spec_path });
	requireSupported({
		...parsed,
		path: campaign.spec_path,
		yaml: change.yaml,
		tip: campaign.pin
	});
	if (parsed.spec.name !== campaign.name) throw new UserError(`the spec is named ${parsed.spec.name}, the campaign ${campaign.name}`, { fix: "start a campaign of its own" });
	if (parsed.sha256 === campaign.spec_sha256) throw new UserError("the spec is the one in force already");
	await requireInScope(place, campaign, parsed.spec);
	const harness = await harnessOf(repository, parsed.spec, campaign.pin.tree);
	const measuredAnew = harness !== campaign.harness;
	const transaction = new Transaction(place, {
		loaded,
		refs
	});
	transaction.seal({
		kind: "campaign-amended",
		cause: `amend at ${campaign.seq}`,
		spec_sha256: parsed.sha256,
		spec_yaml: change.yaml,
		harness,
		source: "person",
		reason: change.reason
	});
	const result = await transaction.push();
	if (result.ok) return { measuredAnew };
	if (result.reason === "lease") throw new ConflictError("the campaign moved while it was amended: try again", result.refs);
	throw new UserError(`the amendment could not be written: ${"message" in result ? result.message : result.ref}`);
}
/** Invariant 4: outside mutable the incumbent is the pin, so what was landed has to stay mutable. */
async function requireInScope({ repository }, campaign, spec) {
	const { isMutable } = compileScope(spec);
	const outside = (await repository.diff(campaign.pin.tree, campaign.incumbent.tree)).find(({ path }) => !isMutable(path));
	if (!outside) return;
	throw new UserError(`${outside.path} was changed by what was kept, and this spec no longer lets it change`, {
		place: {
			file: campaign.spec_path,
			path: "scope.mutable"
		},
		fix: "keep it in scope.mutable, or start fresh: winnow run --fresh"
	});
}
// src/verbs/actor.ts
/** Where the machine has no name for the person, git often has one. */
async function actingAs({ by, directory, env }) {
	if (by.actor !== "unknown") return by;
	const name = await gitRunner(networkIsolation(directory, env)).run({
		args: [
			"config",
			"--get",
			"user.name"
		],
		answers: [1],
		parse: ({ stdout }) => stdout.trim()
	});
	return name === "" ? by : {
		...by,
		actor: name
	};
}
// src/verbs/beginning.ts
const schema = looseObject({
	kind: literal("campaign-started"),
	spec: string(),
	spec_path: string(),
	default_branch: string()
});
/** Null where that ref is no ledger that can be read: whoever folds it names what is wrong. */
async function recordedBeginning(repository, stateRef) {
	const oid = (await repository.remoteRefs([stateRef])).refs.get(stateRef);
	if (oid === void 0) return null;
	await repository.fetch([{
		ref: stateRef,
		oid
	}]);
	const { tree } = await repository.commit(oid);
	const entry = await repository.entryAt(tree, eventPath(0).path);
	if (entry?.type !== "blob") return null;
	return beginningIn((await repository.blob(entry.oid)).toString("utf8"));
}
function beginningIn(text) {
	try {
		const parsed = schema.safeParse(JSON.parse(text));
		return parsed.success ? parsed.data : null;
	} catch (error) {
		if (error instanceof SyntaxError) return null;
		throw error;
	}
}
// src/verbs/choose-campaign.ts
/** The campaign that is meant; the only one there is where nothing was said. */
function chooseCampaign(known, choice) {
	const { name, spec, startedOnly } = choice;
	if (spec !== void 0) return named(known, spec, name);
	if (name !== void 0) return known.find((each) => each.name === name) ?? unknown(known, name);
	const started = known.filter((each) => each.started);
	const candidates = startedOnly && started.length > 0 ? started : known;
	const [only] = candidates;
	if (only === void 0) throw new UserError("there is no campaign here: no spec on the default branch, and no ledger", {
		place: { file: ".winnow/<name>.yaml" },
		fix: "write a spec, commit it (and push it), then winnow check"
	});
	if (candidates.length === 1) return only;
	throw new UserError(`there are several campaigns: ${candidates.map((each) => each.name).join(", ")}`, { fix: "name one with --campaign" });
}
function named(known, spec, name) {
	const found = known.find((each) => each.paths.includes(spec)) ?? known.find((each) => each.ledgerPath === spec) ?? known.find((each) => each.name === spec);
	if (found !== void 0 && found.paths.length > 1 && found.problem !== null) throw found.problem;
	if (found !== void 0 && name !== void 0 && found.name !== name) throw new UserError(`${spec} is campaign ${found.name}, but --campaign says ${name}`, { fix: "give one of the two" });
	if (found !== void 0) return found;
	if (!/\.ya?ml$/.test(spec)) return unknown(known, spec);
	const near = nearest(spec, known.flatMap((each) => each.paths));
	throw new UserError(`${spec} is not on the default branch`, {
		place: { file: spec },
		fix: near === void 0 ? "commit it (and push it): a work tree is never used" : `did you mean ${near}?`
	});
}
function unknown(known, name) {
	const near = nearest(name, known.map((each) => each.name));
	const list = known.length === 0 ? "there is none" : `there is ${known.map((each) => each.name).join(", ")}`;
	throw new UserError(`there is no campaign ${name}: ${list}`, { fix: near === void 0 ? "name one that exists, or commit a spec of that name" : `did you mean ${near}?` });
}
// src/verbs/committed-specs.ts
const SPEC_FILE = /^[^/]+\.ya?ml$/;
/** Those in `.winnow`, and whatever other files are named: a ce spec may lie anywhere. */
async function committedSpecs({ repository, defaultBranch }, others) {
	if (defaultBranch === null) return [];
	const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch);
	if (oid === void 0) return [];
	await repository.fetch([{
		ref: defaultBranch,
		oid
	}]);
	const { tree } = await repository.commit(oid);
	const found = [];
	for (const path of /* @__PURE__ */ new Set([...await usualPaths(repository, tree), ...others])) {
		const entry = await repository.entryAt(tree, path);
		if (entry?.type === "blob") found.push(read$1(path, (await repository.blob(entry.oid)).toString("utf8")));
	}
	return found;
}
async function usualPaths(repository, tree) {
	const directory = await repository.entryAt(tree, ".winnow");
	if (directory?.type !== "tree") return [];
	return (await repository.tree(directory.oid)).flatMap(({ type, name }) => type === "blob" && SPEC_FILE.test(name) ? [`.winnow/${name}`] : []);
}
function read$1(path, yaml) {
	try {
		const { spec } = parseSpec(yaml, { file: path });
		return {
			name: spec.name,
			path,
			spec,
			problem: null
		};
	} catch (error) {
		if (!(error instanceof UserError)) throw error;
		return {
			name: nameOfFile(path),
			path,
			spec: null,
			problem: error
		};
	}
}
function nameOfFile(path) {
	return path.replace(/^.*\//, "").replace(/\.ya?ml$/, "");
}
/** One name, one campaign: with two specs of it nobody knows which one is meant. */
function twins(name, paths) {
	return new UserError(`${paths.toSorted().join(" and ")} are both named ${name}`, {
		place: {
			file: paths.toSorted()[0] ?? "",
			path: "name"
		},
		fix: "give one of them another name"
	});
}
// src/verbs/known-campaigns.ts
const DEFAULT_PREFIX = "optimize";
/** `specPath`: a spec that a person names, wherever it lies. */
async function knownCampaigns(workshop, specPath) {
	const ledgers = await startedCampaigns(workshop);
	const recorded = ledgers.flatMap(({ beginning }) => beginning?.spec_path ?? []);
	const known = startable(await committedSpecs(workshop, specPath === void 0 ? recorded : [...recorded, specPath]));
	const declared = /* @__PURE__ */ new Set([DEFAULT_PREFIX, ...[...known.values()].map(({ prefix }) => prefix)]);
	for (const ledger of ledgers) {
		const { name, prefix, beginning } = ledger;
		if (!declared.has(prefix) && beginning?.spec !== name) continue;
		const there = known.get(name);
		if (there?.started !== true || prefix === there.spec?.branches.prefix) known.set(name, started(ledger, there));
	}
	return [...known.values()].toSorted((a, b) => a.name < b.name ? -1 : 1);
}
/** A spec that is broken may only seem to have the name of another: its file's. */
function startable(specs) {
	const found = /* @__PURE__ */ new Map();
	for (const { name, path, spec, problem } of specs.toSorted((a, b) => Number(!a.spec) - Number(!b.spec))) {
		const there = found.get(name);
		if (there === void 0) {
			const prefix = spec?.branches.prefix ?? "optimize";
			const alone = {
				specPath: path,
				paths: [path],
				ledgerPath: null,
				started: false
			};
			found.set(name, {
				name,
				...alone,
				spec,
				prefix,
				problem
			});
		} else if (spec !== null) {
			const paths = [...there.paths, path];
			found.set(name, {
				...there,
				paths,
				problem: twins(name, paths)
			});
		}
	}
	return found;
}
function started({ name, prefix, beginning }, there) {
	return {
		name,
		specPath: null,
		paths: [],
		spec: null,
		problem: null,
		...there,
		prefix,
		started: true,
		ledgerPath: beginning?.spec_path ?? null
	};
}
const STATE_REF = /^refs\/heads\/([^/]+)-state\/([^/]+)$/;
/** Whatever prefix a spec chose: a campaign is found by its ledger, also when its spec lies anywhere. */
async function startedCampaigns({ repository }) {
	const { refs } = await repository.remoteRefs(["refs/heads/*-state/*"]);
	const ledgers = [];
	for (const ref of refs.keys()) {
		const [, prefix, name] = STATE_REF.exec(ref) ?? [];
		if (prefix === void 0 || name === void 0) continue;
		ledgers.push({
			name,
			prefix,
			beginning: await recordedBeginning(repository, ref)
		});
	}
	return ledgers;
}
// src/verbs/pushed-events.ts
/** The events that one move of a ledger's ref brought: all of them where another ledger took its place. */
async function pushedEvents(repository, { from, to }) {
	if (to === null) return [];
	const continued = from !== null && await repository.isAncestor(from, to);
	const { tree } = await repository.commit(to);
	const events = continued ? readEventsAfter(repository, tree, await readTip(repository, from)) : readEvents(repository, to, 0);
	const found = [];
	for await (const event of events) found.push(event);
	return found;
}
/** Tells what the ledger gained after every push of this process that moved it. */
function announcing(repository, ledger, tell) {
	return {
		...repository,
		async push(updates) {
			const result = await repository.push(updates);
			const move = result.ok ? updates.find(({ ref }) => ledger(ref)) : void 0;
			if (move) for (const event of await pushedEvents(repository, move)) tell(event);
			return result;
		}
	};
}
// src/verbs/default-branch.ts
/** Where everything starts from: the default branch as it is committed (and pushed) now. */
async function defaultTip(workshop, around) {
	const { repository, defaultBranch, local } = workshop;
	if (defaultBranch === null) throw await noDefaultBranch(workshop, around);
	const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch);
	if (oid === void 0) throw new UserError(`${shortRef(defaultBranch)} has no commits yet, and ideas are measured from commits`, { fix: local ? "commit first" : "commit and push first" });
	await repository.fetch([{
		ref: defaultBranch,
		oid
	}]);
	return {
		commit: oid,
		tree: (await repository.commit(oid)).tree
	};
}
/** A remote's HEAD may name a branch that is not there; git passes that over in silence. */
async function noDefaultBranch(workshop, around) {
	if (workshop.local) return new UserError("no branch is checked out, so the default branch is not known", { fix: "check out the branch to be optimised, or give the repository a remote" });
	const branches = await branchesOf(workshop);
	if (branches.length === 0) return new UserError("the remote names no default branch: it has no commits", { fix: "push the branch to be optimised first" });
	const path = remotePath(workshop, around);
	const named = path === null ? null : await headOf$1(path, around.env);
	const instead = `it has ${branches.slice(0, 5).join(", ")}`;
	if (path === null || named === null) return new UserError(`the HEAD of the remote names no branch that is there: ${instead}`, { fix: "choose its default branch in the settings of the remote" });
	return new UserError(`the HEAD of the remote names ${shortRef(named)}, which is not there: ${instead}`, { fix: `push ${shortRef(named)}, or git -C ${path} symbolic-ref HEAD refs/heads/${branches[0]}` });
}
async function branchesOf({ repository }) {
	const { refs } = await repository.remoteRefs(["refs/heads/*"]);
	return [...refs.keys()].map(shortRef).toSorted();
}
/** The remote's directory, where it is on this machine. */
function remotePath({ checkout: { remotes } }, { remote, directory }) {
	const chosen = remotes.find(({ name }) => name === (remote ?? "origin")) ?? remotes[0];
	const path = chosen === void 0 ? null : localPath(chosen.url);
	return path === null ? null : resolve(directory, path);
}
async function headOf$1(path, env) {
	const name = await gitRunner(localIsolation(path, env)).run({
		args: [
			"symbolic-ref",
			"-q",
			"HEAD"
		],
		answers: [1],
		parse: ({ stdout }) => stdout.trim()
	});
	return name === "" ? null : name;
}
// src/verbs/dry-run.ts
/**
* What --dry-run answers: every push that would have been made, with its events and its ref moves, and every file.
* With --json that is the one document on stdout, or goes beside the verb's own.
*/
async function describeRehearsal(call, { repository, pushes, files, answered }, refs) {
	const told = await Promise.all(pushes.map((updates) => Promise.all(updates.map((each) => toldOf(each)))));
	const { terminal, given } = call;
	if (given.flag("json") && !answered) return terminal.json({
		dry_run: true,
		files,
		pushes: told
	});
	const say = besideJson(call);
	say(pushes.length + files.length === 0 ? "Nothing would be written." : "Nothing was written. It would be:");
	for (const file of files) say(`file ${file}`);
	for (const push of told) {
		say("one push");
		for (const line of push.flatMap(linesOf$3)) say(`  ${line}`);
	}
	async function toldOf(update) {
		const events = update.ref === refs.state ? await pushedEvents(repository, update) : [];
		return {
			...update,
			events: events.map(asWritten)
		};
	}
}
/** Where stdout belongs to one JSON document, sentences go to stderr. */
function besideJson({ terminal, given }) {
	return (line) => given.flag("json") ? terminal.err(line) : terminal.out(line);
}
/** Without what is only known when it is written. */
function asWritten({ id: _id, at: _at, by: _by, prev: _prev, ...event }) {
	return event;
}
function linesOf$3({ events, ...update }) {
	return [...events.map(({ seq, kind, ...payload }) => `event ${seq} ${kind} ${plainJson(payload)}`), moveText(update)];
}
function moveText({ ref, from, to }) {
	if (to === null) return `${ref} ${short(from ?? "")} -> deleted`;
	return from === null ? `${ref} created at ${short(to)}` : `${ref} ${short(from)} -> ${short(to)}`;
}
// src/verbs/rehearsal.ts
function rehearse(real) {
	const pushes = [];
	const moved = /* @__PURE__ */ new Map();
	const made = /* @__PURE__ */ new Set();
	async function remoteRefs(patterns) {
		const seen = await real.remoteRefs(patterns);
		const refs = new Map(seen.refs);
		for (const [ref, to] of moved) {
			if (!wanted(ref, patterns)) continue;
			if (to === null) refs.delete(ref);
			else refs.set(ref, to);
		}
		return {
			head: seen.head,
			refs
		};
	}
	async function push(updates) {
		if (updates.length === 0) return { ok: true };
		const names = updates.map(({ ref }) => ref);
		const { refs } = await remoteRefs(names);
		const lost = updates.filter(({ ref, from }) => (refs.get(ref) ?? null) !== from);
		if (lost.length > 0) return {
			ok: false,
			reason: "lease",
			refs: lost.map(({ ref }) => ref)
		};
		const [held] = await real.worktreesHolding(names);
		if (held) return {
			ok: false,
			reason: "checked-out",
			ref: held.branch,
			worktree: held.path
		};
		pushes.push(updates);
		for (const { ref, to } of updates) {
			moved.set(ref, to);
			if (to !== null) made.add(to);
		}
		return { ok: true };
	}
	const fetch = (tips) => real.fetch(tips.filter(({ oid }) => !made.has(oid)));
	return {
		pushes,
		files: [],
		answered: false,
		repository: {
			...real,
			remoteRefs,
			fetch,
			push
		}
	};
}
function wanted(ref, patterns) {
	if (patterns === void 0 || patterns.length === 0) return true;
	return patterns.some((pattern) => pattern.endsWith("*") ? ref.startsWith(pattern.slice(0, -1)) : ref === pattern);
}
// src/verbs/progress.ts
function sayProgress(progress, event) {
	if (OF_INTEREST.has(event.kind)) progress.say(eventLine(event));
}
// src/verbs/at-campaign.ts
/** Opens the campaign that is meant, lets the verb work on it, and closes what was opened. */
async function atCampaign(call, wanted, work) {
	return atRepository(call, DEFAULT_PREFIX, async (first) => {
		const spec = wanted.spec === void 0 ? void 0 : pathInRepository(call, first, wanted.spec);
		const known = await knownCampaigns(first, spec);
		if (known.length === 0) await defaultTip(first, call.around);
		const campaign = chooseCampaign(known, {
			name: call.given.text("campaign"),
			spec,
			startedOnly: wanted.startedOnly
		});
		if (campaign.prefix === "optimize") return inScene$2(call, wanted, {
			workshop: first,
			campaign
		}, work);
		return atRepository(call, campaign.prefix, (workshop) => inScene$2(call, wanted, {
			workshop,
			campaign
		}, work));
	});
}
async function atRepository(call, prefix, work) {
	const { directory, env } = call.around;
	await requireGit(gitRunner(localIsolation(directory, env)));
	const by = await actingAs(call.around);
	const workshop = await openWorkshop({
		...call.around,
		by,
		prefix
	});
	try {
		return await work(workshop);
	} finally {
		await workshop.repository.close();
	}
}
async function inScene$2(call, wanted, { workshop, campaign }, work) {
	const refs = campaignRefs(campaign.prefix, campaign.name);
	const dry = wanted.access === "write" && call.given.flag("dry-run");
	const rehearsal = dry || wanted.access === "read" ? rehearse(workshop.repository) : null;
	const repository = rehearsal?.repository ?? told$2(call, wanted, workshop.repository, refs);
	const recorded = (campaign.started ? await recordedBeginning(repository, refs.state) : null)?.default_branch ?? null;
	const currentDefault = workshop.defaultBranch ?? recorded;
	const here = Object.assign(workshop, {
		repository,
		defaultBranch: currentDefault
	});
	const place = here.place(campaign.name);
	const scene = {
		workshop: here,
		campaign,
		place: {
			...place,
			defaultBranch: recorded ?? place.defaultBranch
		},
		currentDefault: place.defaultBranch,
		rehearsal: dry ? rehearsal : null
	};
	const code = await work(scene);
	if (scene.rehearsal) await describeRehearsal(call, scene.rehearsal, refs);
	return code;
}
function told$2(call, wanted, repository, refs) {
	if (wanted.announce !== true) return repository;
	return announcing(repository, (ref) => ref === refs.state, (event) => sayProgress(call.around.progress, event));
}
/** A name stays a name; a path is meant from where the person is. */
function pathInRepository({ around }, { checkout }, spec) {
	if (checkout.topLevel === null || !/\.ya?ml$/.test(spec)) return spec;
	return relative(checkout.topLevel, resolve(around.directory, spec));
}
// src/verbs/amend.ts
const amend = {
	name: "amend",
	group: "more",
	summary: "put the work tree's spec in force, uncommitted, with a reason for the record",
	access: "write",
	arguments: [],
	options: [{
		name: "reason",
		short: "m",
		value: "reason",
		summary: "why the spec changes (required)"
	}],
	examples: ["winnow amend --reason \"tests may take longer\""],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true,
		announce: true
	}, async (scene) => {
		const reason = call.given.text("reason");
		if (reason === void 0 || reason.trim() === "") throw new UserError("an amendment needs a reason", { fix: "winnow amend --reason \"…\"" });
		const yaml = await workTreeSpec(scene);
		const { measuredAnew } = await amend$1(scene.place, {
			yaml,
			reason
		});
		if (scene.rehearsal === null) call.terminal.out(`The spec is amended.${measuredAnew ? ANEW : ""}`);
		return 0;
	})
};
const ANEW = " Its ruler changed: the baseline and everything open are measured anew.";
async function workTreeSpec({ place }) {
	const { spec_path: path } = (await requireCampaign(place)).loaded.campaign;
	const text = place.checkout === null ? null : await readFile(resolve(place.checkout, path), "utf8").catch(nullIfMissing);
	if (text !== null) return text;
	throw new UserError(`${path} is not in a work tree here`, {
		place: { file: path },
		fix: "run winnow amend in a checkout that has the changed spec"
	});
}
// src/ledger/append.ts
/** Appends events that mean the same wherever they land; answers them as the ledger holds them. */
async function appendCommuting(deps, drafts, by) {
	const bound = drafts.find((draft) => !COMMUTING.has(draft.kind));
	if (bound) throw new TypeError(`${bound.kind} was planned on a tip: it is appended by the engine's own push`);
	if (drafts.length === 0) return [];
	const progress = {
		tip: null,
		arrived: /* @__PURE__ */ new Map()
	};
	const ref = deps.refs.state;
	try {
		const result = await retryLostRaces(deps, () => attemptAppend(deps, drafts, by, progress));
		if (result.done) return result.value;
		throw new ConflictError(`the events could not be appended in two minutes: ${result.why}`, [ref]);
	} catch (error) {
		const file = await deps.saveFailed({
			ref,
			drafts,
			by
		});
		if (error instanceof Error) error.message += `; the events are kept in ${file}`;
		throw error;
	}
}
async function attemptAppend(deps, drafts, by, progress) {
	const { repo, refs } = deps;
	const tip = await observe(deps, progress);
	const known = new Map(progress.arrived);
	const chain = openChain(tip, {
		at: new Date(deps.clock()).toISOString(),
		by
	});
	const sealed = missing(drafts, known).map((draft) => chain.seal(draft));
	for (const { event } of sealed) known.set(event.id, event);
	const events = drafts.flatMap((draft) => known.get(eventId(draft)) ?? []);
	if (sealed.length === 0) return {
		done: true,
		value: events
	};
	const commit = await writeLedgerCommit(repo, tip, sealed, { message: messageOf(drafts) });
	const update = {
		ref: refs.state,
		from: tip.commit,
		to: commit
	};
	return pushAttempt(await repo.push([update]), events);
}
/** The remote's tip now, and what arrived since the first attempt: perhaps our own, its answer lost. */
async function observe({ repo, refs }, progress) {
	const ref = refs.state;
	const oid = (await repo.remoteRefs([ref])).refs.get(ref);
	if (oid === void 0) throw new UserError(`there is no ledger at ${shortRef(ref)}`, { fix: "start the campaign first: winnow run" });
	await repo.fetch([{
		ref,
		oid
	}]);
	const tip = await readTip(repo, oid);
	const before = progress.tip;
	progress.tip = tip;
	if (before === null || before.commit === null || before.commit === oid || tip.tree === null) return tip;
	if (!await repo.isAncestor(before.commit, oid)) throw new LedgerError(`${shortRef(ref)} was replaced: it no longer contains ${before.commit}`);
	for await (const event of readEventsAfter(repo, tip.tree, before)) progress.arrived.set(event.id, event);
	return tip;
}
function missing(drafts, known) {
	return [...new Map(drafts.map((draft) => [eventId(draft), draft]))].filter(([id]) => !known.has(id)).map(([, draft]) => draft);
}
function messageOf(drafts) {
	return `ledger: ${[...new Set(drafts.map((draft) => draft.kind))].join(", ")}`;
}
// src/engine/record.ts
/**
* Appends what a person or a proposer did: events that mean the same wherever they land. The nonce is drawn
* once, before the first attempt, so that every retry is the same event.
*/
async function record(place, drafts) {
	const nonce = place.random.hex(16);
	const caused = drafts.map((draft) => ({
		...draft,
		cause: nonce
	}));
	return appendCommuting({
		repo: place.repository,
		refs: place.refs,
		clock: () => place.clock.now(),
		sleep: (ms) => place.clock.sleep(ms),
		random: () => place.random.fraction(),
		saveFailed: async (payload) => {
			const directory = join(place.dataDir, "failed");
			await mkdir(directory, { recursive: true });
			const file = join(directory, `${nonce}.json`);
			await writeFile(file, JSON.stringify(payload, null, 2));
			return file;
		}
	}, caused, place.by);
}
// src/verbs/experiment-named.ts
/** The experiment a person names: exp-007, 007 or 7. */
function experimentNamed(campaign, given) {
	const id = /^\d+$/.test(given) ? `exp-${given.padStart(3, "0")}` : given;
	const found = Object.hasOwn(campaign.experiments, id) ? campaign.experiments[id] : void 0;
	if (found !== void 0) return found;
	const ids = Object.keys(campaign.experiments);
	const near = nearest(id, ids);
	throw new UserError(`there is no experiment ${given} in campaign ${campaign.name}`, { fix: near === void 0 ? `winnow status lists ${ids.length === 0 ? "them; there is none yet" : "them"}` : `did you mean ${near}?` });
}
// src/verbs/approve.ts
const approve = {
	name: "approve",
	group: "steer",
	summary: "say yes to packages that an idea adds; alone, show what waits",
	access: "write",
	arguments: [{
		name: "exp",
		summary: "the experiment that waits",
		required: false
	}, {
		name: "package",
		summary: "only these of its packages",
		required: false,
		many: true
	}],
	options: [{
		name: "digest",
		value: "set",
		summary: "approve only if the set is still the one that was shown"
	}, {
		name: "json",
		summary: "print JSON"
	}],
	examples: [
		"winnow approve",
		"winnow approve exp-007",
		"winnow approve exp-007 left-pad --dry-run"
	],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async (scene) => {
		const { campaign } = (await requireCampaign(scene.place)).loaded;
		const [exp, ...packages] = call.given.positionals;
		if (exp === void 0) {
			requireNoDigest(call);
			return list$2(call, scene, campaign);
		}
		return give(call, scene, {
			campaign,
			experiment: experimentNamed(campaign, exp),
			packages
		});
	})
};
/** An option that nothing could come of is no list that was asked for. */
function requireNoDigest({ given }) {
	const digest = given.text("digest");
	if (digest === void 0) return;
	throw new UserError("--digest is about the set of one experiment", { fix: `winnow approve <exp> --digest ${digest}` });
}
function list$2({ given, terminal }, { rehearsal }, campaign) {
	const waiting = deferredOf(campaign);
	if (rehearsal !== null) rehearsal.answered = true;
	if (given.flag("json")) {
		terminal.json({
			campaign: campaign.name,
			waiting: waiting.map(requestView)
		});
		return 0;
	}
	if (waiting.length === 0) terminal.out("Nothing waits for an approval.");
	for (const experiment of waiting) for (const line of [...requestText(experiment), ""]) terminal.out(line);
	const [first] = waiting;
	if (first !== void 0) terminal.out(`${approveCommand(first)} says yes to all of it.`);
	return 0;
}
function requestView(experiment) {
	const { id, hypothesis, approval } = experiment;
	const { digest = null, additions = [] } = approval ?? {};
	return {
		experiment: id,
		hypothesis,
		digest,
		packages: awaitedPackages(experiment),
		additions
	};
}
async function give(call, { place, rehearsal }, asked) {
	const { campaign, experiment } = asked;
	const request = requestOf(asked);
	requireSameSet(call.given.text("digest"), experiment, request);
	const packages = chosen(asked, request);
	const { digest } = request;
	if (packages.length > 0) await record(place, [{
		kind: "approved",
		experiment: experiment.id,
		digest,
		packages: [...packages]
	}]);
	if (rehearsal !== null) return 0;
	const after = experimentNamed((await requireCampaign(place)).loaded.campaign, experiment.id);
	requireSameSet(digest, after, requestOf({
		...asked,
		experiment: after
	}));
	const left = awaitedPackages(after);
	if (call.given.flag("json")) call.terminal.json({
		campaign: campaign.name,
		experiment: experiment.id,
		digest,
		approved: packages,
		left
	});
	else call.terminal.out(givenText(asked, {
		packages,
		left,
		request,
		actor: place.by.actor
	}));
	return 0;
}
/** What was asked for, answered or not: an answer that was given before is said, and not given again. */
function requestOf({ campaign, experiment }) {
	if (experiment.status !== "ended" && experiment.approval !== null) return experiment.approval;
	throw new UserError(`${experiment.id} waits for no approval. ${standingSentence(standingIn(campaign, experiment))}`, { fix: "winnow approve shows what waits" });
}
const SHORTEST = 8;
function requireSameSet(given, { id }, { digest }) {
	if (given === void 0 || given.length >= SHORTEST && digest.startsWith(given)) return;
	throw new UserError(`the set of ${id} changed since ${given}: it is ${digest.slice(0, 12)} now`, { fix: `winnow approve shows the new one` });
}
function chosen({ experiment, packages }, { packages: all, additions }) {
	const awaited = awaitedPackages(experiment);
	if (packages.length === 0) return awaited;
	const strange = packages.find((name) => !all.includes(name));
	if (strange === void 0) return awaited.filter((name) => packages.includes(name));
	const allowed = additions.some(({ name }) => name === strange);
	throw new UserError(allowed ? `${strange} is approved by the spec` : `${experiment.id} does not add ${strange}`, { fix: `it waits for ${awaited.join(", ")}` });
}
function givenText({ campaign, experiment }, how) {
	const { packages, left, request, actor } = how;
	if (packages.length === 0 && left.length === 0) return `${experiment.id} was approved already. ${next(campaign)}`;
	const yes = packages.length === 0 ? `${experiment.id}: nothing new was approved.` : `${experiment.id}: ${packagesText(packages, request.additions)} approved by ${actor}.`;
	if (left.length > 0) return `${yes} It still waits for ${packagesText(left, request.additions)}.`;
	return `${yes} ${next(campaign)}`;
}
function next({ status }) {
	switch (status) {
		case "stopped": return "The campaign has stopped; the next winnow run gives it one more round.";
		case "paused": return "The campaign is paused; it is measured after winnow resume.";
		case "running":
		case "none": return "The next winnow run measures it.";
		default: return status;
	}
}
// src/report/status-text.ts
/** `winnow status` for people: where the campaign stands, then every experiment with its verdict first. */
function statusText(campaign, view, notes) {
	const progress = headline$1(campaign);
	return [
		`Campaign ${view.campaign}: ${stateText(campaign)}`,
		...progress === null ? [] : [`  progress: ${progress}`],
		...table([[
			"  baseline",
			short(view.baseline.commit),
			metricsText(view.baseline.metrics)
		], [
			"  incumbent",
			short(view.incumbent.commit),
			metricsText(view.incumbent.metrics)
		]]),
		...calibrationLines(campaign),
		`  ${countsText(view)}`,
		...notes.map((note) => `  note: ${note}`),
		...campaign.alerts.slice(-3).map(({ code, message }) => `  alert ${code}: ${message}`),
		...ideasToTake(campaign).map((idea) => `  to take: ${toTakeLine(idea)}`),
		...experimentLines(campaign, view)
	];
}
function calibrationLines({ calibration }) {
	const text = calibration === null ? null : noisyText(calibration);
	return text === null ? [] : [`  calibration: ${text}`];
}
function stateText({ status, status_reason }) {
	return status_reason === null || status === "running" ? status : `${status}, ${status_reason}`;
}
function countsText({ counts, experiments }) {
	const ended = Object.entries(counts).filter(([, count]) => count > 0);
	const opened = plural(experiments.length, "experiment");
	if (ended.length === 0) return `${opened}, none ended`;
	return `${opened}: ${ended.map(([name, count]) => `${count} ${name}`).join(", ")}`;
}
/** What was kept says what it is reported to bring as soon as that is known: what it was selected by flatters. */
function experimentSentence(campaign, experiment) {
	const said = standingSentence(standingIn(campaign, experiment));
	const effect = reportedEffect(campaign, experiment);
	if (effect?.reported == null) return said;
	return `Kept: reported effect ${effect.reported}${effect.soFar === null ? "" : `; selected by ${effect.soFar}`}`;
}
function experimentLines(campaign, { experiments }) {
	const rows = experiments.flatMap(({ id, pr, hypothesis }) => {
		const standing = campaign.experiments[id];
		if (standing === void 0) return [];
		return [[
			id,
			pr === null ? "" : `#${pr}`,
			oneLine(experimentSentence(campaign, standing), 160),
			capitalised(oneLine(hypothesis, 80))
		]];
	});
	return rows.length === 0 ? [] : ["", ...table(rows)];
}
// src/verbs/pause.ts
const REASON = {
	name: "message",
	short: "m",
	value: "reason",
	summary: "why, for the record"
};
const pause = {
	name: "pause",
	group: "steer",
	summary: "stop giving out work until winnow resume; what is under way ends",
	access: "write",
	arguments: [],
	options: [REASON],
	examples: ["winnow pause -m \"release week\""],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async ({ place, rehearsal }) => {
		const { campaign } = (await requireCampaign(place)).loaded;
		if (campaign.status === "stopped") throw new UserError(`campaign ${place.name} is ${stateText(campaign)}: there is nothing to pause`);
		if (campaign.status === "paused") {
			call.terminal.out(`Campaign ${place.name} is paused already: ${campaign.status_reason}`);
			return 0;
		}
		await record(place, [{
			kind: "campaign-paused",
			reason: call.given.text("message") ?? `paused by ${place.by.actor}`,
			source: "person"
		}]);
		if (rehearsal === null) call.terminal.out(`Campaign ${place.name} is paused. winnow resume goes on.`);
		return 0;
	})
};
// src/report/expected-time.ts
/** How long an order is expected to take on this machine, from what was measured before; null: nobody can know. */
function expectedSeconds(campaign, { stop, candidates }) {
	const sides = 1 + candidates.length;
	const noise = campaign.calibration?.noise ?? null;
	if (noise !== null && "pairs" in stop) return noise.overhead_seconds + sides * (stop.pairs + 1) * noise.execution_seconds;
	const alike = Object.values(campaign.orders).flatMap(({ order, report }) => report === null || order.stop.rule !== stop.rule ? [] : [secondsOf$1(report.report)]);
	if (alike.length > 0) return mean(alike);
	const each = snapshotMetrics(campaign.origin)["wall_seconds"] ?? null;
	return each === null ? null : sides * each;
}
function secondsOf$1({ started_at, finished_at }) {
	return Math.max(0, Date.parse(finished_at) - Date.parse(started_at)) / 1e3;
}
function mean(values) {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}
// src/report/live-text.ts
/** The line of a run: what is running, how long, how long it usually takes, and the best so far. */
function liveText(campaign, progress, now) {
	const expected = longest(now.orders.map(({ order }) => expectedSeconds(campaign, order)));
	const time = now.orders.length > 0 || now.asked.length > 0 ? ` ${clockText(now.seconds)}${expected === null ? "" : ` of ~${clockText(expected)}`}` : "";
	return `${whatText(now)}${time}, ${bestText(progress)}`;
}
function whatText({ orders, asked, elsewhere }) {
	const named = [...new Set(orders.map(({ order }) => orderText(order)))];
	if (named.length > 0) return listText$1(named);
	if (asked.length > 0) return `asking ${listText$1([...new Set(asked)])}`;
	return elsewhere ? "waiting for another run" : "looking";
}
const NAMED = 2;
function listText$1(names) {
	const more = names.length - NAMED;
	return `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` +${more}` : ""}`;
}
function orderText({ purpose, candidates }) {
	const ids = listText$1(candidates.map(({ label }) => label));
	switch (purpose) {
		case "calibration": return "calibrating";
		case "experiment":
		case "combination": return ids;
		case "holdout": return `${ids} on the holdout`;
		case "effect":
		case "regression": return "effect of what was kept";
		case "progression": return "progress in all";
		case "sync":
		case "foreign":
		case "revert":
		case "baseline": return purpose;
		default: return purpose;
	}
}
function bestText(progress) {
	const { metric, from, now } = progress;
	if (from === null || now === null) return "nothing measured yet";
	return from === now ? gainText$2(progress) : `best ${gainText$2(progress)} (${metric} ${numberText(now)})`;
}
function longest(seconds) {
	const known = seconds.filter((each) => each !== null);
	return known.length === 0 ? null : Math.max(...known);
}
/** 0:07, 12:00, 1:02:03. */
function clockText(seconds) {
	const whole = Math.max(0, Math.round(seconds));
	const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
	const rest = String(whole % 60).padStart(2, "0");
	return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
}
// src/report/final-summary.ts
const LISTED = 5;
/** The end of a run after its first sentences: what it came to, what waits for whom, what it cost, what to type next. */
function finalSummary(campaign, where) {
	const result = campaignResult(campaign);
	const rows = [
		...labelled("verdicts", verdictsText(result)),
		...labelled("kept", ...listed$1(result.improvements.map(({ id }) => keptText$1(campaign, id)))),
		...labelled("waiting", ...listed$1(deferredLines(campaign))),
		...labelled("took", tookText(result)),
		...labelled("next", ...nextTexts(campaign, result, where))
	];
	return ["", ...table(rows)];
}
function labelled(label, ...lines) {
	return lines.filter((line) => line !== "").map((line, index) => [index === 0 ? `  ${label}` : "", line]);
}
function listed$1(lines) {
	const more = lines.length - LISTED;
	return more > 0 ? [...lines.slice(0, LISTED), `and ${more} more`] : [...lines];
}
function verdictsText({ verdicts }) {
	return Object.entries(verdicts).filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word.replace("_", " ")}`).join(", ");
}
function keptText$1(campaign, id) {
	const experiment = campaign.experiments[id];
	if (experiment === void 0) return "";
	return `${id}  ${oneLine(experimentSentence(campaign, experiment), 160).replace(/^Kept: /, "")} (${oneLine(experiment.hypothesis, 80)})`;
}
function tookText({ duration_seconds, spent: { minutes, executions, usd } }) {
	const since = duration_seconds === null ? [] : [`${clockText(duration_seconds)} since the campaign began`];
	const measuring = minutes < 1 ? "less than a minute" : `${numberText(Math.round(minutes))} min`;
	const money = usd > 0 ? [`${numberText(usd)} USD for models`] : [];
	return [
		...since,
		`${plural(executions, "execution")} in ${measuring}`,
		...money
	].join(", ");
}
function nextTexts(campaign, { improvements }, where) {
	const some = Object.keys(campaign.experiments);
	const last = improvements.at(-1)?.id ?? some.at(-1);
	const look = last === void 0 ? [] : [["winnow status", "every experiment"], [`winnow show ${last}`, "its evidence"]];
	const take = improvements.length === 0 ? [] : takeTexts(campaign, where);
	const finish = campaign.status === "stopped" ? [["winnow archive", "put the campaign aside"]] : some.length === 0 ? [["winnow try -m \"…\"", "measure what you just changed"], ["winnow propose -m \"…\"", "offer HEAD as an idea"]] : [["winnow stop", "end the campaign"]];
	return table([
		...look,
		...take,
		...finish
	]);
}
function takeTexts({ name, reference }, { prefix, remote }) {
	const own = shortRef(campaignRefs(prefix, name).optimize);
	const branch = remote === null ? own : `${remote}/${own}`;
	return [
		["winnow audit", "that all of it was measured, from git alone"],
		[`${remote === null ? "" : `git fetch ${remote} && `}git diff ${short(reference.commit)}..${branch}`, "what changed"],
		[`git merge ${branch}`, "take it"]
	];
}
// src/report/run-summary.ts
/** How a run ends for people: why it ended, what came of it, where the result is. */
function runSummary(campaign, waiting) {
	const machine = singleMachineText(campaign);
	const progress = headline$1(campaign);
	const gain = progress === null ? gainText$1(campaign) : null;
	return [
		...progress === null ? [] : [`Progress: ${progress}.`],
		waitingSentence(waiting),
		`${campaign.name}: ${tallyText(campaign)}; the incumbent is ${short(campaign.incumbent.commit)}.`,
		...gain === null ? [] : [`Since the baseline: ${gain}.`],
		...machine === null ? [] : [machine]
	];
}
function gainText$1(campaign) {
	const { spec } = parseSpec(campaign.spec_yaml, { file: campaign.spec_path });
	const { baseline, incumbent } = statusView(campaign, /* @__PURE__ */ new Map());
	const { name } = spec.metric.primary;
	const before = baseline.metrics[name] ?? null;
	const after = incumbent.metrics[name] ?? null;
	return before === null || after === null ? null : changeText(name, before, after);
}
// src/verbs/forecast-file.ts
/** What `check` found on this machine about exactly this spec and this tree. Nothing but a question depends on it. */
const file = strictObject({ seconds: number().nonnegative() });
async function noteForecast({ around }, workshop, about, seconds) {
	const path = pathOf(workshop, about);
	await mkdir(dirname(path), { recursive: true });
	const part = `${path}.${around.random.hex(4)}.part`;
	await writeFile(part, JSON.stringify({ seconds }));
	await rename(part, path);
}
/** null: nobody has looked yet. */
async function notedForecast(workshop, about) {
	const text = await readFile(pathOf(workshop, about), "utf8").catch(nullIfMissing);
	return text === null ? null : file.parse(JSON.parse(text)).seconds;
}
function pathOf({ dataDir }, { yaml, tree }) {
	return join(dataDir, "forecasts", `${sha256(`${tree}\n${yaml}`)}.json`);
}
// src/report/duration.ts
/** "42 s", "3 min", "3 h 10 min": as exact as a person plans with. */
function durationText(seconds) {
	if (seconds < 1) return "less than 1 s";
	if (seconds < 90) return `${Math.round(seconds)} s`;
	const minutes = Math.round(seconds / 60);
	if (minutes < 60) return `${minutes} min`;
	const rest = minutes % 60;
	return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}
// src/verbs/go-on.ts
const LONG_SECONDS = 3600;
/** What a person should agree to before it begins; null where so little is at stake that nobody needs to be asked. */
function stakeText({ seconds, money, bound = "expected" }) {
	if (!(seconds !== null && seconds > LONG_SECONDS) && money.length === 0) return null;
	return [timeText$1(seconds, bound), ...money].join("; ");
}
function timeText$1(seconds, bound) {
	const unknown = "How long this takes is not known yet";
	if (seconds === null) return unknown;
	const time = durationText(seconds);
	switch (bound) {
		case "expected": return `This will take about ${time}`;
		case "most": return `This will take ${time} at most`;
		case "limit": return `${unknown} (winnow check says), at most ${time}`;
		default: return bound;
	}
}
/** Asked once, and only where somebody can answer: --yes, CI and pipes go on. */
async function goesOn({ given, terminal, interrupt }, stake) {
	const text = stakeText(stake);
	if (text === null || given.flag("yes") || terminal.confirm === null) return true;
	return terminal.confirm(`${text}. Go on?`, interrupt);
}
// src/verbs/stake-of.ts
/** What a campaign may take of a person's time and money; `seconds` is what `check` found, null where it did not look. */
function stakeOf(spec, seconds) {
	return {
		seconds: timeOf(spec, seconds),
		money: moneyOf(spec),
		bound: seconds === null ? "limit" : "expected"
	};
}
/** Where nobody looked, all that it may take is at stake; without ideas of its own it waits, and that is cheap. */
function timeOf({ propose, stopping }, seconds) {
	const most = stopping.max_hours === null ? null : stopping.max_hours * 3600;
	if (seconds !== null) return most === null ? seconds : Math.min(most, seconds);
	return propose.every(({ use }) => use === "external") ? null : most;
}
const AGENTS = /\b(claude|codex|gemini|copilot|opencode|aider)\b/;
function moneyOf({ propose, metric, stopping }) {
	if (stopping.max_total_cost_usd !== null) return [];
	const agents = propose.flatMap((proposer) => {
		if (proposer.use !== "command") return [];
		const name = proposer.preset ?? AGENTS.exec(proposer.command ?? "")?.[0];
		return name === void 0 ? [] : [name];
	});
	const judged = metric.primary.type === "judge" || metric.judge !== null ? ["the judge"] : [];
	const who = [.../* @__PURE__ */ new Set([...agents, ...judged])];
	if (who.length === 0) return [];
	return [`${who.join(" and ")} may cost money, with no limit (stopping.max_total_cost_usd is not set)`];
}
// src/verbs/live.ts
const AGAIN_MS = 250;
/**
* While the work goes on, a person at a terminal sees what it says of itself, anew as it changes; null shows
* nothing. Elsewhere nothing is shown, and nothing is different.
*/
async function showingLive({ terminal, around: { clock } }, text, work) {
	const begun = clock.monotonic();
	const over = new AbortController();
	const showing = async () => {
		while (!over.signal.aborted) {
			terminal.live(text((clock.monotonic() - begun) / 1e3));
			await clock.sleep(AGAIN_MS, over.signal);
		}
	};
	const working = Promise.resolve().then(work).finally(() => over.abort());
	const [shown, done] = await Promise.allSettled([showing(), working]);
	terminal.live(null);
	if (done.status === "rejected") throw done.reason;
	if (shown.status === "rejected") throw shown.reason;
	return done.value;
}
// src/verbs/looking.ts
/** A tick that moves refs and measures nothing; in a rehearsal it does not even ask a proposer. */
async function lookingTick(call, scene) {
	const { interrupt } = call;
	const hands = await lookingHands(scene, interrupt);
	try {
		for (;;) {
			const { waiting } = await tick$1(hands);
			if (!hands.asking.busy || interrupt.aborted) return waiting;
			await hands.asking.settled();
		}
	} catch (error) {
		if (!(error instanceof WouldAsk)) throw error;
		besideJson(call)(`It would ask ${error.who} for one idea; what follows depends on the answer.`);
		return { for: "ideas" };
	} finally {
		await hands.asking.close();
	}
}
/** The world as a tick would see it, with nothing tidied up. */
async function lookAround({ interrupt }, scene) {
	return (await observe$1(await lookingHands(scene, interrupt)))?.world ?? null;
}
async function lookingHands({ place, rehearsal }, signal) {
	const hands = await openHands(place, signal);
	if (rehearsal === null) return {
		...hands,
		runner: lookingRunner(hands.runner)
	};
	const runner = lookingRunner(onceLooked(hands.runner));
	const begin = (who) => {
		throw new WouldAsk(who);
	};
	return {
		...hands,
		runner,
		asking: {
			...hands.asking,
			begin
		}
	};
}
/** The end of a rehearsal: nobody can know what a proposer would answer. */
var WouldAsk = class extends Error {
	name = "WouldAsk";
	who;
	constructor(who) {
		super(`would ask ${who}`);
		this.who = who;
	}
};
/** Reads what others measured and leaves every order to them: nothing of it is dispatched from here. */
function lookingRunner(runner) {
	return {
		...runner,
		runId: null,
		machine: null,
		async facts(campaign) {
			const found = await runner.facts(campaign);
			for (const { order, report } of Object.values(campaign.orders)) {
				const fact = found.get(order.id);
				const idle = fact === void 0 || fact.state === "gone" && !fact.started;
				if (report === null && idle) found.set(order.id, { state: "running" });
			}
			return found;
		},
		tidy: async () => {},
		dispatch: async () => {},
		cancel: async () => {},
		holds: () => false,
		doing: () => null,
		busy: false,
		settled: async () => {},
		finished: async () => {},
		close: async () => {}
	};
}
/** A runner drops the files of orders it takes for answered; in a rehearsal they are answered only in thought. */
function onceLooked(runner) {
	let looked = null;
	return {
		...runner,
		async facts(campaign) {
			looked ??= await runner.facts(campaign);
			return new Map(looked);
		}
	};
}
// src/verbs/pull-numbers.ts
/** Numbers of the pull requests winnow opened itself, ended ones included: the ledger names only landed ones. */
async function pullNumbers({ forge }, campaign) {
	const branches = Object.values(campaign.experiments).flatMap(({ pull, branch }) => pull === null && branch !== null ? [branch] : []);
	const pulls = branches.length === 0 ? [] : await forge.list({ branches });
	return new Map(pulls.map(({ branch, number }) => [branch, number]));
}
// src/verbs/run-agent.ts
const AGENT = {
	name: "agent",
	value: "name",
	many: true,
	summary: `ask this coding agent for ideas, in this run only: ${PRESETS.join(", ")}`
};
const TIMEOUT_SECONDS = 3600;
/** Who is asked besides the proposers of the spec; whoever is not installed is said before anything is spent. */
async function guestsFor({ given, around }, scene) {
	const guests = given.texts("agent").map(guest);
	const { campaign, place } = scene;
	const spec = campaign.started && !given.flag("fresh") ? (await requireCampaign(place)).spec : campaign.spec;
	const missing = await missingAgent([...spec?.propose ?? [], ...guests], around.env);
	if (missing !== null) throw new UserError(missing.what, { fix: missing.fix });
	return guests;
}
function guest(name) {
	if (isPreset(name)) return {
		use: "command",
		preset: name,
		timeout_seconds: TIMEOUT_SECONDS
	};
	const near = nearest(name, PRESETS);
	throw new UserError(`winnow knows no agent ${name}; it knows ${PRESETS.join(", ")}`, { fix: near === void 0 ? "write it as a command: in propose of the spec" : `did you mean ${near}?` });
}
// src/verbs/run-exit.ts
/** What `winnow run` answers to a script (design section 9), as its help says it. */
const RUN_EXITS = {
	[EXIT_CODES.kept]: "the campaign stopped, and something is kept",
	[EXIT_CODES.worse]: "it stopped with nothing kept",
	[EXIT_CODES["not proven"]]: "it stopped with nothing kept, and what was measured is not proven",
	[EXIT_CODES.refused]: "it stopped, and every idea was refused",
	[EXIT_CODES.broken]: "the base or the harness fails, its calibration included, or it stopped and every idea was broken",
	[14]: "waiting for ideas, a measurement elsewhere, or a person"
};
/** The first of these that any experiment came to is what a campaign with nothing kept came to. */
const BEST_FIRST = [
	"no gain",
	"worse",
	"not proven",
	"broken",
	"refused"
];
function runExitCode({ campaign, waiting }) {
	if (waiting.for !== "nothing") return baseFails(campaign) ? EXIT_CODES.broken : 14;
	if (keptExperiments(campaign).length > 0) return EXIT_CODES.kept;
	const words = new Set(Object.values(campaign.experiments).flatMap(({ verdict }) => verdict ?? []));
	const best = BEST_FIRST.find((word) => words.has(word));
	return EXIT_CODES[best ?? "no gain"];
}
/** The incumbent's own order has its report and led nowhere: that is what the engine paused for. */
function baseFails({ status, status_source, orders }) {
	if (status !== "paused" || status_source !== "engine") return false;
	return Object.values(orders).some(({ order, report }) => report !== null && (order.purpose === "calibration" || order.purpose === "baseline"));
}
// src/verbs/run-live.ts
/** What a run says of itself while it goes on: looked at from outside, and of no influence on it. */
function runLive({ memory, runner, asking, place }) {
	const begun = /* @__PURE__ */ new Map();
	let told = null;
	function progressNow(loaded) {
		if (told?.loaded === loaded) return told.progress;
		const progress = progressOf(loaded.campaign, specOf(memory.specs, loaded.campaign));
		told = {
			loaded,
			progress
		};
		return progress;
	}
	return () => {
		const { loaded } = memory;
		if (loaded === null) return null;
		const orders = measuredHere(loaded.campaign);
		const asked = asking.asked;
		const now = place.clock.monotonic();
		const keys = /* @__PURE__ */ new Set([...orders.map(({ order }) => order.id), ...asked]);
		for (const key of begun.keys()) if (!keys.has(key)) begun.delete(key);
		for (const key of keys) if (!begun.has(key)) begun.set(key, now);
		const seconds = (now - Math.min(now, ...begun.values())) / 1e3;
		return liveText(loaded.campaign, progressNow(loaded), {
			orders,
			asked,
			seconds,
			elsewhere: isMeasuredElsewhere(loaded.campaign)
		});
	};
	function isMeasuredElsewhere({ orders }) {
		return Object.values(orders).some(({ report, run_id }) => report === null && run_id !== null && run_id !== runner.runId);
	}
	function measuredHere({ orders }) {
		return Object.values(orders).filter(({ order, report }) => report === null && runner.doing(order.id) === "running");
	}
}
// src/git/uncommitted.ts
/** Paths of a work tree that are not as they are committed: changed, removed, or new and not ignored. */
function uncommittedPaths(topLevel, env) {
	return gitRunner(networkIsolation(topLevel, env)).run({
		args: [
			"status",
			"--porcelain",
			"-z",
			"--no-renames",
			"--untracked-files=all",
			"--ignore-submodules=dirty"
		],
		parse: ({ stdout }) => stdout.split("\0").flatMap((line) => line === "" ? [] : [line.slice(3)])
	});
}
// src/verbs/unused-work.ts
/**
* What lies in the person's checkout and is not used: winnow reads the default branch only. The checkout is
* looked at and never touched.
*/
async function unusedWork(workshop, specPath, env, scope = null) {
	const { topLevel } = workshop.checkout;
	if (topLevel === null || workshop.defaultBranch === null) return [];
	const branch = workshop.local ? shortRef(workshop.defaultBranch) : `${shortRef(workshop.defaultBranch)} of the remote`;
	return [
		await specSentence(workshop, topLevel, specPath, branch),
		...await dirtySentences(topLevel, specPath, env, scope),
		await unpushedSentence(workshop, topLevel, env, branch)
	].filter((sentence) => sentence !== null);
}
async function specSentence(workshop, topLevel, specPath, branch) {
	if (specPath === null) return null;
	const here = await readFile(join(topLevel, specPath), "utf8").catch(nullIfMissing);
	const there = await committedText(workshop, specPath);
	if (here === null || there === null || unified(here) === unified(there)) return null;
	return `${specPath} in the work tree is not what ${branch} has: the committed one is used`;
}
function unified(text) {
	return text.replaceAll("\r\n", "\n");
}
async function committedText({ repository, defaultBranch }, path) {
	if (defaultBranch === null) return null;
	const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch);
	if (oid === void 0) return null;
	await repository.fetch([{
		ref: defaultBranch,
		oid
	}]);
	const entry = await repository.entryAt((await repository.commit(oid)).tree, path);
	return entry?.type === "blob" ? (await repository.blob(entry.oid)).toString("utf8") : null;
}
/** What may be changed by experiments and is changed here is most likely meant to be measured. */
async function dirtySentences(topLevel, specPath, env, scope) {
	const paths = (await uncommittedPaths(topLevel, env)).filter((path) => path !== specPath);
	const inside = paths.filter((path) => scope?.isMutable(path) === true);
	const others = paths.filter((path) => !inside.includes(path));
	return [...inside.length === 0 ? [] : [`${plural(inside.length, "change")} inside scope.mutable not committed, so not measured: ${few$2(inside)}`], ...others.length === 0 ? [] : [`${plural(others.length, "change")} in the work tree not committed and not used: ${few$2(others)}`]];
}
function few$2(paths) {
	return paths.slice(0, 3).join(", ") + (paths.length > 3 ? ", …" : "");
}
/** A remote's tip that is not in the checkout at all is passed over: the count is then of all that is not fetched. */
async function unpushedSentence({ repository, defaultBranch, local }, topLevel, env, branch) {
	if (local || defaultBranch === null) return null;
	const tip = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch);
	if (tip === void 0) return null;
	const count = await gitRunner(localIsolation(topLevel, env)).run({
		args: [
			"rev-list",
			"--count",
			"--ignore-missing",
			"HEAD",
			`^${tip}`
		],
		answers: [128],
		parse: ({ exitCode, stdout }) => exitCode === 0 ? Number(stdout.trim()) : 0
	});
	return count === 0 ? null : `${plural(count, "local commit")} not on ${branch}: not used until pushed there`;
}
// src/verbs/run.ts
const run = {
	name: "run",
	group: "start",
	summary: "start or continue a campaign on this machine, until it stops or waits",
	access: "write",
	arguments: [{
		name: "spec",
		summary: "a spec file, where there are several",
		required: false
	}],
	options: [
		{
			name: "fresh",
			summary: "close what is open, put the campaign aside, start from the default branch"
		},
		AGENT,
		{
			name: "watch",
			summary: "keep looking while ideas or a person are waited for"
		},
		{
			name: "yes",
			short: "y",
			summary: "do not ask before what costs money, or more than an hour"
		},
		{
			name: "json",
			summary: "print the status and what is waited for as JSON; progress goes to stderr"
		}
	],
	examples: [
		"winnow run",
		"winnow run .winnow/parser.yaml --watch",
		"winnow run --agent claude",
		"winnow run --fresh --dry-run"
	],
	exits: {
		...RUN_EXITS,
		130: "interrupted; run again to go on"
	},
	run(call) {
		return runTelling(call, summarise);
	}
};
function runTelling(call, tell) {
	const [spec] = call.given.positionals;
	return atCampaign(call, {
		access: "write",
		startedOnly: false,
		spec,
		announce: true
	}, (scene) => inScene$1(call, scene, tell));
}
async function inScene$1(call, scene, tell) {
	const { campaign, workshop } = scene;
	const guests = await guestsFor(call, scene);
	const specPath = campaign.ledgerPath ?? campaign.specPath;
	for (const sentence of await unusedWork(workshop, specPath, call.around.env)) call.terminal.err(`note: ${sentence}`);
	if (!await agreed(call, scene)) {
		call.terminal.err("Nothing was started.");
		return 130;
	}
	const here = call.given.flag("fresh") ? await startAfresh(call, scene) : await start(call, scene);
	if (here.rehearsal) {
		await lookingTick(call, here);
		return 0;
	}
	const hands = await openHands(here.place, call.interrupt, { guests });
	const watch = call.given.flag("watch");
	const running = () => run$1(hands, {
		signal: call.interrupt,
		watch
	});
	const waiting = await showingLive(call, runLive(hands), running);
	const result = {
		campaign: await campaignNow$1(hands),
		waiting
	};
	await tell(call, here, result);
	return call.interrupt.aborted ? 130 : runExitCode(result);
}
/** Before a campaign begins a person is told what it may take; nothing is recorded yet. */
async function agreed(call, scene) {
	const { campaign, workshop, rehearsal } = scene;
	if (rehearsal !== null || campaign.started && !call.given.flag("fresh")) return true;
	const place = {
		...scene.place,
		defaultBranch: scene.currentDefault
	};
	const { spec, yaml, tip } = await committedSpec(place, specPathOf(scene));
	return goesOn(call, stakeOf(spec, await notedForecast(workshop, {
		yaml,
		tree: tip.tree
	})));
}
/** The campaign as it is, or begun from its committed spec. */
async function start(call, scene) {
	const { campaign, place } = scene;
	if (campaign.started) {
		requireSamePath(call, campaign);
		return scene;
	}
	await startCampaign(place, await committedSpec(place, specPathOf(scene)), { fresh: false });
	return scene;
}
/** A spec that was named and is not the one the campaign runs by would be passed over in silence. */
function requireSamePath({ given }, { name, ledgerPath, specPath }) {
	if (!(given.positionals[0] !== void 0 && given.positionals[0] !== name) || ledgerPath === null || specPath === null || specPath === ledgerPath) return;
	throw new UserError(`campaign ${name} was started from ${ledgerPath}, not from ${specPath}`, {
		place: { file: specPath },
		fix: `move the spec back, or winnow run --fresh ${specPath}`
	});
}
/** The new spec is read before the old campaign is closed: a mistake in it costs nothing. */
async function startAfresh(call, scene) {
	const fresh = {
		...scene,
		place: {
			...scene.place,
			defaultBranch: scene.currentDefault
		}
	};
	const committed = await committedSpec(fresh.place, specPathOf(scene));
	requireSupported(committed);
	if (scene.campaign.started) await closeDown(call, scene, "fresh", "a fresh start was asked for");
	await startCampaign(fresh.place, committed, { fresh: true });
	return fresh;
}
/** Stops the campaign and gives everything that is open its end. */
async function closeDown(call, scene, code, reason) {
	const { place } = scene;
	const { campaign } = (await requireCampaign(place)).loaded;
	const waits = deferredOf(campaign).length + campaign.late.length > 0;
	if (campaign.status !== "stopped" || waits) await record(place, [{
		kind: "campaign-stopped",
		code,
		reason
	}]);
	await lookingTick(call, scene);
}
function specPathOf({ campaign }) {
	if (campaign.problem !== null) throw campaign.problem;
	if (campaign.specPath !== null) return campaign.specPath;
	throw new UserError(`the spec of ${campaign.name} is not on the default branch any more`, { fix: "commit .winnow/<name>.yaml (and push it)" });
}
async function campaignNow$1({ memory, place }) {
	return memory.loaded?.campaign ?? (await requireCampaign(place)).loaded.campaign;
}
async function summarise({ given, terminal }, { place, workshop, campaign: known }, { campaign, waiting }) {
	if (given.flag("json")) {
		const view = statusView(campaign, await pullNumbers(place, campaign));
		terminal.json({
			waiting,
			...view
		});
		return;
	}
	const where = {
		prefix: known.prefix,
		remote: workshop.remote
	};
	for (const line of [...runSummary(campaign, waiting), ...finalSummary(campaign, where)]) terminal.out(line);
}
// src/verbs/archive.ts
const archive = {
	name: "archive",
	group: "more",
	summary: "stop the campaign and put its branches aside; nothing of it is lost",
	access: "write",
	arguments: [],
	options: [REASON],
	examples: ["winnow archive", "winnow archive --dry-run"],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async (scene) => {
		const { place } = scene;
		await requireCampaign(place);
		await closeDown(call, scene, "archived", call.given.text("message") ?? `archived by ${place.by.actor}`);
		const at = await archive$1(place, (await listRefs(place)).refs);
		if (scene.rehearsal === null) call.terminal.out(`Campaign ${place.name} is below ${shortRef(place.refs.archive)}${at}/ now.`);
		return 0;
	})
};
// src/report/proof-text.ts
function auditText(found) {
	const counts = Object.entries(found.checked).map(([name, count]) => name.endsWith("s") ? plural(count, name.slice(0, -1)) : `${count} ${name}`);
	const result = found.ok ? "everything fits" : plural(found.problems.length, "problem");
	return [
		`Audit of ${found.campaign}: ${result}. Checked ${counts.join(", ")}.`,
		...found.unproven === null ? [] : [`First without evidence: ${found.unproven.what}`],
		...found.problems.filter(({ what }) => what !== found.unproven?.what).map(({ what }) => `  problem: ${what}`),
		...found.open.map(({ what }) => `  open: ${what}`),
		found.limits
	];
}
function replayText(campaign, found) {
	const result = found.ok ? "no difference" : plural(found.differences.length, "difference");
	return [`Replay of ${campaign}: ${plural(found.decisions, "verdict")} in ${plural(found.rounds, "round")}, ${result}.`, ...found.differences.map(({ seq, experiment, field, recorded, recomputed }) => `  event ${seq}${experiment === null ? "" : ` ${experiment}`}: ${field} is recorded as ${shown(recorded)}, computed as ${shown(recomputed)}`)];
}
function shown(value) {
	return JSON.stringify(value) ?? "nothing";
}
// src/verbs/audit.ts
const audit = {
	name: "audit",
	group: "more",
	summary: "show from git alone that every commit on the optimize branch was measured as recorded",
	access: "read",
	arguments: [{
		name: "campaign",
		summary: "which one, where there are several",
		required: false
	}],
	options: [],
	examples: ["winnow audit", "winnow audit parser --json"],
	exits: { 1: "something does not fit" },
	run: (call) => atCampaign(call, {
		access: "read",
		startedOnly: true,
		spec: call.given.positionals[0]
	}, async ({ place }) => {
		const result = await audit$1(place);
		if (call.given.flag("json")) call.terminal.json(result);
		else for (const line of auditText(result)) call.terminal.out(line);
		return result.ok ? 0 : 1;
	})
};
// src/measure/holdings.ts
const EVERY_MS = 50;
const ACCELERATOR = /^\/dev\/(?:nvidia\d|dri\/renderD|kfd|accel|davinci\d)/;
const NO_FILE = /^(?:\/dev\/(?!shm\/)|\/proc\/|\/sys\/|\/memfd:|[a-z_]+:)/;
/**
* Looks at the processes of executions in a work directory, several times a second, through /proc. What is held
* for less long is not seen, so nothing that is missing here was shown to be absent.
*/
function watchHoldings(workDir) {
	const seen = {
		ports: /* @__PURE__ */ new Set(),
		files: /* @__PURE__ */ new Set(),
		devices: /* @__PURE__ */ new Set()
	};
	const strangers = new Set(processIds());
	const look = () => {
		for (const pid of processIds().filter((each) => !strangers.has(each))) if (isMarked(pid, workDir)) lookAt(pid, workDir, seen);
	};
	const timer = setInterval(look, EVERY_MS);
	timer.unref();
	const found = () => ({
		ports: [...seen.ports].toSorted((a, b) => a - b),
		files: [...seen.files].toSorted(),
		devices: [...seen.devices].toSorted()
	});
	return {
		look() {
			look();
			return found();
		},
		end() {
			clearInterval(timer);
			return found();
		}
	};
}
function processIds() {
	return quietly$1(() => readdirSync("/proc").filter((name) => /^\d+$/.test(name)), []);
}
/** Executions and gates are started with this, and their children inherit it. */
function isMarked(pid, workDir) {
	const mark = `WINNOW_OUT_DIR=${join(workDir, "at")}/`;
	return quietly$1(() => readFileSync(`/proc/${pid}/environ`, "latin1").split("\0"), []).some((entry) => entry.startsWith(mark));
}
function lookAt(pid, workDir, seen) {
	const sockets = /* @__PURE__ */ new Set();
	for (const fd of quietly$1(() => readdirSync(`/proc/${pid}/fd`), [])) {
		const target = quietly$1(() => readlinkSync(`/proc/${pid}/fd/${fd}`), "");
		const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? [];
		if (inode !== void 0) sockets.add(inode);
		if (ACCELERATOR.test(target)) seen.devices.add(target);
		if (target.startsWith("/") && !NO_FILE.test(target) && !target.startsWith(`${workDir}/`) && isWritten(pid, fd)) seen.files.add(target.replace(/ \(deleted\)$/, ""));
	}
	if (sockets.size === 0) return;
	for (const table of ["tcp", "tcp6"]) for (const port of listening(`/proc/${pid}/net/${table}`, sockets)) seen.ports.add(port);
}
function isWritten(pid, fd) {
	const info = quietly$1(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1"), "");
	const [, flags = "0"] = /^flags:\s*([0-7]+)/m.exec(info) ?? [];
	return (Number.parseInt(flags, 8) & 3) !== 0;
}
const LISTEN = "0A";
function listening(table, sockets) {
	return quietly$1(() => readFileSync(table, "latin1").split("\n").slice(1), []).flatMap((line) => {
		const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
		return state === LISTEN && sockets.has(inode) ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : [];
	});
}
/** A process may end while it is looked at, and elsewhere there is no /proc at all: then nothing is seen. */
function quietly$1(look, otherwise) {
	try {
		return look();
	} catch {
		return otherwise;
	}
}
// src/report/check-forecast.ts
/** What a run under this spec would do, as far as the spec alone says it: one line each, its subject first. */
function forecast(spec) {
	return [
		...gateTexts(spec).map((text) => `gate: ${text}`),
		"isolation: none; experiment code runs with your rights and can read your home directory",
		"cost: this machine measures, so no runner is paid for; what proposers spend is not counted",
		`stops after: ${stopText(spec)}`,
		`merges into: ${spec.branches.prefix}/${spec.name}, and never into the default branch`
	];
}
function gateTexts({ gates, metric }) {
	const commands = gates.map(({ name, command, phase }) => `${name}: ${command} (${phase})`);
	const checks = metric.degenerate_gates.map((gate) => {
		const why = gate.description === void 0 ? "" : `, ${gate.description}`;
		return `${gate.name} ${gate.check}${why}`;
	});
	return [...commands, ...checks];
}
/** Executions of one idea, both sides together, when it is worth all of them. */
function mostExecutions({ measurement }) {
	const { stability, baseline } = measurement;
	if (stability === null) return 4;
	const { mode, repeat_count: repeats, ladder } = stability;
	const samples = mode === "stable" ? 1 : mode === "repeat" ? repeats : ladder?.confirmation_repeats ?? repeats;
	return baseline === "cached" ? samples : 2 * samples;
}
/** Where no noise has to be outlasted: what the executions of a campaign take at most. */
function timeText(spec, seconds) {
	const most = mostExecutions(spec);
	const each = most * seconds / 60;
	const all = each * spec.stopping.max_iterations;
	return `time: at most ${plural(most, "execution")} or ${minutes$1(each)} an idea, ${minutes$1(all)} for ${spec.stopping.max_iterations}, besides set-up and gates`;
}
/** What the executions of a whole campaign take at most. */
function mostSeconds(spec, seconds) {
	return mostExecutions(spec) * seconds * spec.stopping.max_iterations;
}
function minutes$1(count) {
	return `${numberText(Number(count.toPrecision(2)))} min`;
}
function stopText({ stopping }) {
	return [
		plural(stopping.max_iterations, "experiment"),
		`${stopping.plateau} without a new incumbent`,
		...stopping.max_hours === null ? [] : [plural(stopping.max_hours, "hour")],
		...stopping.max_runner_minutes === null ? [] : [plural(stopping.max_runner_minutes, "runner minute")],
		...stopping.max_failures === null ? [] : [`${stopping.max_failures} broken in a row`]
	].join(", ");
}
// src/report/check-compared.ts
/** `deterministic`: whether it was shown to repeat exactly; null where nobody looked. */
function comparedMetrics(spec, deterministic) {
	const compared = wayOf$1(spec, deterministic);
	const objectives = objectivesOf(spec.metric).map(({ name, role, direction }, at) => ({
		name,
		role: at === 0 ? "primary" : role,
		direction,
		compared
	}));
	const ties = tieBreakersOf(spec.policy).map((tie) => ({
		...tie,
		role: "tie-breaker",
		compared
	}));
	return [...objectives, ...ties];
}
function wayOf$1(spec, deterministic) {
	const { stability, mode } = spec.measurement;
	if (stability !== null) return "stored score";
	if (mode === "once" || deterministic === true) return "once";
	return mode === "paired" || timedDecisive(spec).length > 0 || deterministic === false ? "pairs" : "once or pairs";
}
function comparedText(spec, metrics) {
	return [...metrics.map(({ name, role, direction, compared }) => {
		return `compared: ${`${direction === "minimize" ? "less" : "more"} ${name}`} (${role}), ${howText(spec, compared)}`;
	}), `smallest gain: ${smallestGain(spec, metrics[0]?.compared ?? "pairs")}`];
}
function howText({ measurement }, compared) {
	switch (compared) {
		case "once": return "each idea run once, and a gain once more";
		case "pairs": return "in pairs of base and idea, until there is evidence";
		case "once or pairs": return "each idea run once if it repeats exactly, else in pairs of base and idea";
		case "stored score": {
			const runs = `${measurement.stability?.mode ?? "stable"} runs`;
			return measurement.baseline === "cached" ? `${runs} compared with a stored score` : `${runs} compared with runs of the base`;
		}
		default: return compared;
	}
}
function smallestGain(spec, compared) {
	const { metric, measurement, evidence } = spec;
	const { name } = metric.primary;
	if (measurement.stability !== null) return storedGain(name, measurement.stability);
	if (evidence.min_effect !== null && evidence.min_effect > 0) {
		const least = evidence.min_effect;
		return `${evidence.scale === "linear" ? `${numberText(least)} ${name}` : `${numberText(least * 100)} % of the base`} (evidence.min_effect)`;
	}
	const always = `any, where ${name} repeats exactly`;
	const noisy = "2 % of the base (the default of evidence.min_effect)";
	if (compared === "once") return always;
	return compared === "pairs" ? noisy : `${always}; else ${noisy}`;
}
function storedGain(name, { comparison, noise_threshold }) {
	return comparison.method === "absolute" ? `more than ${numberText(noise_threshold)} ${name} (noise_threshold)` : `more than ${numberText(comparison.relative_threshold * 100)} % of the base (relative_threshold)`;
}
// src/report/check-trial.ts
function trialText(trial) {
	return [...foundText$1(trial), ...trial.warnings.map((warning) => `warning: ${warning}`)];
}
function foundText$1({ seconds, metrics, gates, calibration, prospects }) {
	const passed = gates.length === 0 ? "" : `; passed ${gates.join(", ")}`;
	const [printed, ...rows] = metricsLines(metrics);
	const tried = [`tried: ${printed} in ${numberText(Number(seconds.toPrecision(3)))} s${passed}`, ...rows];
	if (calibration === null) return tried;
	const scale = `scale: ${calibration.scale === "log" ? "log, gains are shares of the base" : "linear, gains are differences"}`;
	const lines = [
		...tried,
		`repeats exactly: ${repeatsText(calibration)}`,
		scale
	];
	const noise = calibration.noise === null ? [] : noiseLines({
		...calibration,
		noise: calibration.noise
	});
	return [
		...lines,
		...noise,
		...prospects === null ? [] : prospectLines(prospects, calibration)
	];
}
function repeatsText({ deterministic, reason, noise }) {
	if (deterministic) return `yes, ${reason}`;
	const [why = reason, more] = reason.split("; ");
	if (noise?.pair_sd === 0) return "not shown";
	return more === void 0 ? "no" : `no, ${why}`;
}
function noiseLines({ scale, noise }) {
	const { between_job_sd: between, pairs } = noise;
	const jobs = between === null ? "" : `, jobs by ${sizeText(between, scale)}`;
	return [`noise: ${noiseText({
		scale,
		noise
	})}${jobs}`, `fair: two copies of the base were not told apart in ${plural(pairs, "pair")}`];
}
function prospectLines(prospects, calibration) {
	const { null_idea, good_idea, chance_to_keep, campaign } = prospects;
	const gain = (effect) => sizeText(effect, calibration.scale);
	const [least, most] = campaign.minutes.toSorted((a, b) => a - b);
	const held = prospects.each_keep.executions > 2 * (prospects.pairs_per_job + 1);
	const [fewest, highest] = campaign.executions.toSorted((a, b) => a - b);
	return [
		`an idea without effect: ${costText$1(null_idea)}`,
		`an idea that gains ${gain(2 * prospects.min_effect)}: ${costText$1(good_idea)}`,
		`a keep: ${spentText(prospects.each_keep)} more, for its reported effect${held ? " and the holdout" : ""}`,
		`headline: ${spentText(prospects.headline)}, once, before the campaign stops`,
		`time: ${minutes(least ?? 0)} to ${minutes(most ?? 0)} min and ${Math.round(fewest ?? 0)} to ${Math.round(highest ?? 0)} executions for ${plural(campaign.ideas, "idea")}, with set-up, gates and headline; less where ideas share a base`,
		"chance to keep, by true gain:",
		...table([["  true gain", ...chance_to_keep.map(({ effect }) => gain(effect))], ["  kept", ...chance_to_keep.map(({ chance }) => `${Math.round(chance * 100)} %`)]]),
		`smallest visible gain: ${visibleText$1(prospects, gain)}`,
		...prospects.ways_out.map((way) => `way out: ${wayText(way, calibration)}`)
	];
}
function costText$1({ pairs, jobs, executions, minutes: took }) {
	const one = (value) => value.toFixed(1);
	return `${one(pairs)} pairs in ${one(jobs)} jobs, ${Math.round(executions)} executions, ${minutes(took)} min`;
}
function spentText({ executions, minutes: took }) {
	return `${Math.round(executions)} executions, ${minutes(took)} min`;
}
function minutes(count) {
	return numberText(Number(count.toPrecision(2)));
}
function visibleText$1({ smallest_visible_gain: visible, min_effect, sees_min_effect }, gain) {
	const wanted = `evidence.min_effect is ${gain(min_effect)}`;
	if (visible === null) return `none, whatever an idea gains; ${wanted}`;
	const seen = `${gain(visible)} is kept with a chance of 80 %; ${wanted}`;
	return sees_min_effect ? seen : `${seen}, and an idea that gains just that is mostly missed`;
}
/** What it would take, or that it would not help. */
function wayText(way, { scale, noise }) {
	switch (way.way) {
		case "more-jobs": return way.max_jobs === null ? "more jobs alone do not help, not even evidence.max_jobs: 32" : `more jobs: evidence.max_jobs: ${way.max_jobs}`;
		case "better-metric": return way.times === null ? "no metric would help that moves less than 64 times as far" : `a better metric: one that the same idea moves ${way.times.toFixed(1)} times as far, with this noise`;
		case "quieter-machine": return way.pair_sd === null ? "a quieter machine does not help: it is not noise that hides the gain" : `a quieter machine: pairs that differ by ${sizeText(way.pair_sd, scale)} instead of ${sizeText(noise?.pair_sd ?? 0, scale)}`;
		default: return way;
	}
}
// src/report/check-text.ts
/** What is said before anything runs. */
function checkText(view) {
	const { file, campaign, scope, rules } = view;
	return [
		`${file} is valid: campaign ${campaign}, ${rules} defaults, read from the ${view.source}.`,
		`  scope: ${plural(scope.mutable, "file")} may change${fewText(scope.mutable, scope.examples.mutable)}, ${scope.outside} may not${fewText(scope.outside, scope.examples.outside)}`,
		...scope.unmatched.map((pattern) => `  scope.mutable ${pattern} matches no file`),
		...view.ideas.map((idea) => `  ideas: ${idea}`),
		...view.forecast.map((line) => `  ${line}`),
		...view.notes.map((note) => `  note: ${note}`),
		...view.warnings.map((warning) => `  warning: ${warning}`),
		...view.unsupported.map((sentence) => `  not possible yet: ${sentence}`),
		...blockers(view)
	];
}
function fewText(count, examples) {
	if (examples.length === 0) return "";
	return ` (${examples.join(", ")}${count > examples.length ? ", …" : ""})`;
}
const NOT_TRIED = "Nothing was run: without --no-try, set-up, gates and harness are tried on the default branch, and noise, time and the smallest visible gain are said.";
/** How ideas will be compared, and what trying the harness showed of it. */
function comparisonText(spec, { metrics, tried }) {
	const compared = comparedText(spec, metrics);
	if (tried === null) return [...compared.map((line) => `  ${line}`), NOT_TRIED];
	const time = tried.prospects === null ? [timeText(spec, tried.seconds)] : [];
	return [
		...compared,
		...trialText(tried),
		...time
	].map((line) => `  ${line}`);
}
/** Whether `winnow run` would refuse. */
function isBlocked({ scope, unsupported }) {
	return unsupported.length > 0 || scope.mutable === 0;
}
function blockers(view) {
	if (!isBlocked(view)) return [];
	return [`This spec cannot be run: ${[view.scope.mutable === 0 ? "no committed file may change" : null, view.unsupported.length > 0 ? "it asks for what is not built yet" : null].filter((reason) => reason !== null).join(", and ")}.`];
}
/** Where ideas come from, in the order in which the spec lists them. */
function ideaSources(spec) {
	const { branches, name } = spec;
	return spec.propose.map((proposer) => {
		switch (proposer.use) {
			case "external": return `winnow propose, branches below ${branches.prefix}-exp/${name}/, pull requests against ${branches.prefix}/${name}`;
			case "patch": return `the .patch files in ${proposer.dir} of the default branch`;
			case "command": return `the program ${proposer.command ?? proposer.preset ?? ""}`;
			case "sweep":
			case "textgrad":
			case "dispatch": return proposer.use;
			default: return proposer;
		}
	});
}
// src/report/holdings-text.ts
/** From here on Linux gives ports to whoever asks for any: nobody fights over those. */
const FIRST_OF_THE_SYSTEM = 32768;
/** What executions side by side would fight over, as far as it was seen, and which keys keep them apart. */
function holdingsText({ ports, files, devices }, spec) {
	const { execution, parallel } = spec;
	if (execution.mode === "serial" || parallel.exclusive_resources.length > 0) return [];
	const fixed = ports.filter((port) => port < FIRST_OF_THE_SYSTEM);
	return [
		...fixed.length === 0 || parallel.port_strategy === "parameterized" ? [] : [portsText(fixed)],
		...devices.length === 0 ? [] : [devicesText(devices)],
		...files.length === 0 ? [] : [filesText(files)]
	];
}
function portsText(ports) {
	return `it listened on ${plural(ports.length, "port")} (${few$1(ports.map(String))}): where several run at once, read it from a variable (parallel.port_strategy: parameterized, parallel.port_env_var, parallel.port_base), or set execution.mode: serial`;
}
function devicesText(devices) {
	return `it used ${few$1(devices)}: parallel.exclusive_resources: [accelerator] keeps executions one at a time`;
}
function filesText(files) {
	const what = files.some((file) => /\.(?:lock|lck|pid|sqlite3?|db)(?:-journal|-wal)?$/.test(file)) ? "such files are shared by all executions" : "what one side leaves there the other finds";
	return `it wrote outside its own copy (${few$1(files)}): ${what}; use $TMPDIR or $WINNOW_OUT_DIR, or set execution.mode: serial`;
}
function few$1(names) {
	return names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "");
}
// src/verbs/spec-to-check.ts
/** A spec can be checked before it is committed: the work tree's text where there is one. */
async function specToCheck(call, workshop) {
	const { topLevel } = workshop.checkout;
	const path = await chosenPath(call, workshop);
	const here = topLevel === null ? null : await textAt$1(topLevel, path);
	if (here !== null) return {
		path,
		yaml: here,
		source: "work tree"
	};
	const committed = await committedText(workshop, path);
	if (committed !== null) return {
		path,
		yaml: committed,
		source: "default branch"
	};
	const near = nearest(path, await pathsHere(workshop));
	throw new UserError(`there is no spec ${path}, neither in the work tree nor on the default branch`, {
		place: { file: path },
		fix: near === void 0 ? "write it: four lines are enough" : `did you mean ${near}?`
	});
}
async function textAt$1(topLevel, path) {
	const file = join(topLevel, path);
	if ((await stat(file).catch(nullIfMissing))?.isDirectory() !== true) return readFile(file, "utf8").catch(nullIfMissing);
	const specs = (await readdir(file)).filter((name) => /\.ya?ml$/.test(name)).toSorted();
	throw new UserError(`${path === "" ? "." : path} is a directory, not a spec`, {
		place: { file: path },
		fix: `name a file: winnow check ${join(path, specs[0] ?? "spec.yaml")}`
	});
}
async function chosenPath({ given, around }, workshop) {
	const [spec] = given.positionals;
	if (spec !== void 0) return inRepository(workshop, around.directory, spec);
	const known = await knownCampaigns(workshop);
	const paths = /* @__PURE__ */ new Set([...await pathsHere(workshop), ...known.flatMap((each) => each.paths)]);
	const name = given.text("campaign");
	const meant = name === void 0 ? [...paths] : [...paths].filter((path) => nameOf$2(known, path) === name);
	const [only, another] = meant;
	if (only === void 0) throw new UserError(name === void 0 ? "there is no spec here" : `there is no spec of campaign ${name}`, {
		place: { file: ".winnow/<name>.yaml" },
		fix: "write one, or name a file: winnow check path/to/spec.yaml"
	});
	if (another === void 0) return only;
	throw new UserError(`there are several specs: ${meant.toSorted().join(", ")}`, { fix: `name one: winnow check ${only}` });
}
function nameOf$2(known, path) {
	return known.find(({ paths }) => paths.includes(path))?.name ?? nameOfFile(path);
}
function inRepository({ checkout }, directory, spec) {
	if (checkout.topLevel === null) return spec;
	const path = relative(checkout.topLevel, resolve(directory, spec));
	if (!path.startsWith("..") && !isAbsolute(path)) return path;
	throw new UserError(`${spec} is outside the repository`, {
		place: { file: spec },
		fix: `put it below ${checkout.topLevel}/.winnow`
	});
}
async function pathsHere({ checkout }) {
	if (checkout.topLevel === null) return [];
	return (await readdir(join(checkout.topLevel, ".winnow")).catch(nullIfMissing) ?? []).filter((name) => /\.ya?ml$/.test(name)).map((name) => `.winnow/${name}`);
}
// src/decide/absent-metrics.ts
/** Invariant 5, said before it costs a campaign: all keys of the spec against all that was printed. */
function absentMetrics(spec, executions) {
	const runs = executions.filter(({ status, role }) => status === "ok" && role !== "smoke");
	if (runs.length === 0) return [];
	const found = /* @__PURE__ */ new Map();
	for (const { name, key } of namedMetrics(spec)) {
		if (found.has(name) || runs.some((run) => readingOf(run, name) !== null)) continue;
		found.set(name, {
			name,
			key,
			printed: runs.some((run) => Object.hasOwn(run.metrics, name))
		});
	}
	return [...found.values()];
}
function namedMetrics({ metric, policy }) {
	return [
		...metric.primary.type === "hard" ? [{
			name: metric.primary.name,
			key: "metric.primary"
		}] : [],
		...metric.objectives.map(({ name }) => ({
			name,
			key: "metric.objectives"
		})),
		...metric.degenerate_gates.map(({ name }) => ({
			name,
			key: "metric.degenerate_gates"
		})),
		...metric.constraints.map(({ metric: name }) => ({
			name,
			key: "metric.constraints"
		})),
		...metric.diagnostics.map(({ name }) => ({
			name,
			key: "metric.diagnostics"
		})),
		...tieBreakersOf(policy).map(({ name }) => ({
			name,
			key: "policy.tie_breakers"
		}))
	];
}
/** What the executions printed, besides what winnow measures itself. */
function printedNames(executions, builtIn) {
	return [...new Set(executions.flatMap(({ metrics }) => Object.keys(metrics)))].filter((name) => !builtIn.has(name));
}
// src/plan/prospects.ts
const EFFECTS = [
	0,
	.5,
	1,
	1.5,
	2,
	3
];
const GOOD = 2;
/** The same numbers for the same noise, whoever asks. */
const SEED = 1;
const RUNS = 400;
function prospectsOf(spec, calibrated) {
	const { noise, singleMachine, runs = RUNS } = calibrated;
	const options = optionsOf$1(spec, calibrated);
	const input = {
		noise: { pairSd: noise.pair_sd },
		options,
		seed: SEED,
		runs
	};
	const min = options.minEffect;
	const cost = (effect) => expectedCost({
		...input,
		effect,
		...secondsOf(noise)
	});
	const [null_idea, good_idea] = [cost(0), cost(GOOD * min)];
	const ideas = spec.stopping.max_iterations;
	const record = forTheRecord(spec, noise, options.pairsPerJob);
	const keeps = ideas * chanceToKeep({
		...input,
		effect: GOOD * min
	});
	const whole = (of) => [ideas * null_idea[of], ideas * good_idea[of] + keeps * record.each_keep[of] + record.headline[of]];
	return {
		min_effect: min,
		null_effect: options.nullEffect,
		level: options.alpha,
		pairs_per_job: options.pairsPerJob,
		max_jobs: options.maxJobs,
		single_machine: singleMachine,
		chance_to_keep: EFFECTS.map((min_effects) => {
			const effect = min_effects * min;
			return {
				min_effects,
				effect,
				chance: chanceToKeep({
					...input,
					effect
				})
			};
		}),
		smallest_visible_gain: smallestVisibleGain(input),
		sees_min_effect: seesMinEffect(input),
		ways_out: waysOut(input),
		null_idea,
		good_idea,
		...record,
		campaign: {
			ideas,
			minutes: whole("minutes"),
			executions: whole("executions")
		}
	};
}
/** Jobs without a stopping rule: every one of them is measured to its end (decision.md 3.6). */
function forTheRecord({ measurement }, noise, pairs) {
	const effect = jobOf(noise, pairs);
	const holdout = measurement.holdout === null ? {
		executions: 0,
		minutes: 0
	} : jobOf(noise, measurement.holdout.pairs);
	return {
		each_keep: {
			executions: effect.executions + holdout.executions,
			minutes: effect.minutes + holdout.minutes
		},
		headline: {
			executions: 8 * effect.executions,
			minutes: 8 * effect.minutes
		}
	};
}
/** Its warm-ups, one of each side, are in what a job takes besides its pairs. */
function jobOf({ execution_seconds, overhead_seconds }, pairs) {
	return {
		executions: 2 * (pairs + 1),
		minutes: (2 * pairs * execution_seconds + overhead_seconds) / 60
	};
}
/** The rule under which the campaign's first idea is judged on its primary. */
function optionsOf$1(spec, { scale, noise, singleMachine }) {
	const evidence = resolveEvidence(spec, {
		scale,
		singleMachine,
		deterministic: false
	});
	const campaign = emptyCampaign();
	const objectives = objectivesOf(spec.metric);
	return {
		direction: objectives[0].direction,
		minEffect: evidence.min_effect,
		nullEffect: evidence.null_effect,
		alpha: levelFor(campaign, spec.evidence, {
			share: nextShare(campaign, spec),
			variant: 0
		}),
		screen: evidence.screen,
		pairsPerJob: pairsPerJob(spec.evidence, noise.execution_seconds),
		maxJobs: evidence.max_jobs,
		freshRunners: evidence.fresh_runners,
		singleMachine,
		m: objectives.filter(({ role }) => role === "required").length
	};
}
/** What a job takes besides its pairs holds its warm-ups already: one execution of each side. */
function secondsOf({ execution_seconds, overhead_seconds }) {
	return {
		secondsPerExecution: execution_seconds,
		setupSeconds: Math.max(0, overhead_seconds - 2 * execution_seconds)
	};
}
// src/report/absent-text.ts
/** What is missing, what is there instead, and which of that was probably meant. */
function absentText({ name, key, printed }, names) {
	if (printed) return `${name} (${key}) is printed, but not as a finite number: NaN, infinite or null`;
	const near = nearest(name, names);
	return `${name} (${key}) is not printed; ${names.length === 0 ? "no metric is" : `printed ${names.length === 1 ? "is" : "are"} ${names.join(", ")}`}${near === void 0 ? "" : `: did you mean ${near}?`}`;
}
// src/verbs/measuring.ts
/** An order measured for the person at the command line: no ledger, and a work directory of its own. */
async function measureHere(call, workshop, asked) {
	const { around, interrupt } = call;
	const machine = {
		...around,
		machineDir: workshop.machineDir
	};
	const leave = await takeTurn(machine, {
		...berthFor(asked.order, asked.spec),
		what: asked.what
	}, interrupt);
	try {
		interrupt.throwIfAborted();
		return await measure$1(inputOf(call, workshop, asked));
	} finally {
		leave?.();
	}
}
function inputOf({ around, interrupt }, { repository, dataDir, checkout }, { order, spec, place, more = {} }) {
	return {
		...more,
		order,
		spec,
		runId: around.by.run_id,
		repository,
		workDir: join(dataDir, "work", place),
		sharedRoot: checkout.topLevel,
		env: around.env,
		now: () => around.clock.now(),
		monotonic: () => around.clock.monotonic(),
		signal: interrupt,
		onStart: async () => {}
	};
}
// src/report/missing-metrics.ts
function missingMetrics(needed, printed) {
	const missing = needed.filter((name) => !printed.includes(name));
	if (missing.length === 0) return null;
	const fix = `${missing.map((name) => {
		const meant = printed.find((each) => each.startsWith(`${name}.`)) ?? nearest(name, printed);
		return meant === void 0 ? `${name} is not printed.` : `${name} is not printed: did you mean ${meant}?`;
	}).join(" ")} Name one of the printed metrics, or print it.`;
	return {
		fix: printed.length === 0 ? `print ${missing.join(", ")}` : fix,
		printed: listed$2(printed)
	};
}
// src/setup/findings.ts
const LANGUAGES = [
	"node",
	"python",
	"go",
	"rust",
	"java",
	"ruby",
	"shell"
];
// src/setup/printed-metric.ts
const LINE = /METRIC ([A-Za-z_][\w.-]*)=/;
const PRINTED = [
	/JSON\.stringify\(\s*\{\s*["']?([A-Za-z_]\w*)["']?\s*[:,}]/,
	/json\.dumps?\(\s*\{\s*["']([A-Za-z_]\w*)["']\s*:/,
	/\{\\?"([A-Za-z_]\w*)\\?"\s*:\s*(?:[$%#"'+]|\\?\()/,
	/JSON\.generate\(\s*\{?\s*["']?([A-Za-z_]\w*)["']?\s*(?::|=>)/
];
const MORE_IS_BETTER = /(?:^|_)(?:ops|hz|rps|qps|throughput|per_s(?:ec(?:ond)?)?|score|accuracy|coverage|hits?|hit_rate|f1|recall|precision)(?:_|$)|perSec|opsPer|[a-z]Per[A-Z]/i;
/** What the source of a benchmark says that it prints, as far as that shows; the rest is timed by winnow. */
function printedBy(source) {
	const line = LINE.exec(source ?? "")?.[1];
	if (line !== void 0) return {
		output: "metric-lines",
		metric: metricNamed(line)
	};
	for (const pattern of PRINTED) {
		const name = pattern.exec(source ?? "")?.[1];
		if (name !== void 0) return {
			output: "json",
			metric: metricNamed(name)
		};
	}
	return {
		output: "json",
		metric: null
	};
}
function metricNamed(name) {
	return {
		name,
		direction: MORE_IS_BETTER.test(name) ? "maximize" : "minimize"
	};
}
// src/setup/bench-script.ts
const PLACE = /^(?:bench|benches|benchmarks?|perf)\/([^/]+)$/;
const AID = /(?:^|[._/-])(?:test|spec|setup|util|utils|helper|helpers|common|fixtures?|config)\.[^.]+$/i;
/** `bench/parse.mjs` and its like: one file, started by itself. Of several, the one named like a main. */
function benchScript(files, endings, interpreter) {
	const own = files.paths.filter((path) => PLACE.test(path) && endings.test(path) && !AID.test(path)).filter((path) => !/(?:^|\/)(?:test_[^/]*|__init__|[^/]*\.bench)\.[^/]+$/.test(path));
	const [first] = own.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
	if (first === void 0) return null;
	return {
		found: {
			command: `${interpreter} ${first}`,
			from: first,
			...printedBy(files.text(first))
		},
		others: own.filter((path) => path !== first)
	};
}
function rank(path) {
	return /\/(?:index|main|all|bench|benchmark|run|perf)\.[^/]+$/.test(path) ? 0 : 1;
}
function othersNote(others) {
	if (others.length === 0) return [];
	return [`other benchmarks: ${others.slice(0, 4).join(", ")}${others.length > 4 ? ", …" : ""}`];
}
// src/setup/benchmark-tools.ts
/** What the benchmarks of one tool have in common, the mean over all of them (docs/adapters.md). */
const OVERALL = {
	go: "geomean_ns_per_op",
	cargo: "geomean_ns_per_iter",
	"pytest-benchmark": "geomean_median_seconds",
	hyperfine: "geomean_median_seconds",
	vitest: "geomean_mean_ms"
};
function toolBenchmark(command, from, output) {
	const name = OVERALL[output];
	return {
		command,
		from,
		output,
		metric: name === void 0 ? null : {
			name,
			direction: "minimize"
		}
	};
}
// src/setup/project-files.ts
function projectFiles(paths, texts) {
	return {
		paths,
		text: (path) => texts.get(path) ?? null
	};
}
/** The same seen from one of its directories; '' is the whole. */
function below(files, directory) {
	if (directory === "") return files;
	const start = `${directory}/`;
	return {
		paths: files.paths.flatMap((path) => path.startsWith(start) ? [path.slice(start.length)] : []),
		text: (path) => files.text(start + path)
	};
}
const READ = [
	/(?:^|\/)(?:package\.json|pnpm-workspace\.yaml|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|Cargo\.toml|go\.(?:mod|work))$/,
	/(?:^|\/)(?:requirements[^/]*\.txt|Gemfile|Rakefile|[^/]+\.gemspec|[Mm]akefile|[Jj]ustfile|Taskfile\.ya?ml)$/,
	/(?:^|\/)(?:pom\.xml|build\.gradle(?:\.kts)?)$/,
	/(?:^|\/)(?:bench|benches|benchmark|benchmarks|perf)\/[^/]+$/,
	/(?:^|\/)(?:test_[^/]*|[^/]*_test|[^/]*bench[^/]*)\.(?:py|go)$/,
	/\.bench\.[cm]?[jt]sx?$/,
	/^(?:[^/]+\/){0,2}[^/]+\.go$|(?:^|\/)src\/(?:lib|main)\.rs$/,
	/(?:^|\/)src\/main\/java\/.*\.java$/
];
const MOST$2 = 600;
/** Which of a repository's files detection wants to read; everything else is known by its name alone. */
function readsFor(paths) {
	return paths.filter((path) => !isForeign(path) && READ.some((pattern) => pattern.test(path))).slice(0, MOST$2);
}
const FOREIGN = /(?:^|\/)(?:node_modules|vendor|third_party|\.[^/]+|dist|target|testdata|fixtures?|examples?|__fixtures__)\//;
/** Copies of other people's code, generated files, and what tests feed on. */
function isForeign(path) {
	return FOREIGN.test(path);
}
function isTable(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
/** What lies at a path of keys; undefined where any of them is missing. */
function valueAt(value, ...keys) {
	return keys.reduce((inner, key) => isTable(inner) && Object.hasOwn(inner, key) ? inner[key] : void 0, value);
}
function textAt(value, ...keys) {
	const found = valueAt(value, ...keys);
	return typeof found === "string" && found !== "" ? found : null;
}
/** A manifest that cannot be read tells nothing: its own tool says what is wrong with it. */
function jsonOf(files, path) {
	return parsedBy(files, path, JSON.parse, SyntaxError);
}
function tomlOf(files, path) {
	return parsedBy(files, path, parse, TomlError);
}
function parsedBy(files, path, parse, mistake) {
	const text = files.text(path);
	if (text === null) return null;
	try {
		const value = parse(text.replace(/^\uFEFF/, ""));
		return isTable(value) ? value : null;
	} catch (error) {
		if (error instanceof mistake) return null;
		throw error;
	}
}
// src/setup/sources.ts
const TESTS$3 = /(?:^|\/)(?:tests?|specs?|__tests__|bench|benches|benchmarks?|perf|docs?|scripts|e2e)\/|(?:^|\/)(?:tests?|specs?|bench|benchmark|(?:run|all)[._-]?tests?|test_[^/]+|conftest|setup|noxfile|[^/]*[._-](?:test|spec|bench)|Rakefile|[^/]*\.config)\.[^/]+$/;
/** Files of these endings that are the project's own code, neither tests nor tools. */
function sourceFiles({ paths }, endings) {
	return paths.filter((path) => endings.test(path) && !TESTS$3.test(path) && !isForeign(path));
}
/** The directories that hold the sources; files where they lie at the top. */
function placesOf(sources, preferred) {
	const [home] = preferred.filter((place) => sources.some((path) => path.startsWith(place)));
	if (home !== void 0) return [home];
	const tops = sources.map((path) => path.includes("/") ? `${path.slice(0, path.indexOf("/"))}/` : path);
	const count = (top) => tops.filter((each) => each === top).length;
	return [...new Set(tops)].toSorted((a, b) => count(b) - count(a) || (a < b ? -1 : 1)).slice(0, 6);
}
/** Tests below what may change: whoever may change those as well may weaken the gate. */
function testsAmong({ paths }, mutable, kinds) {
	const below = paths.filter((path) => mutable.some((place) => place.includes("*") || path.startsWith(place)));
	return kinds.filter(({ matches }) => below.some((path) => matches.test(path))).map(({ pattern }) => pattern);
}
// src/setup/task-files.ts
var import_dist = require_dist();
/** Makefile, justfile and Taskfile: a target's name is all that is asked of them. */
function targetsOf(files) {
	const found = [];
	for (const file of [
		"Makefile",
		"makefile",
		"justfile",
		"Justfile",
		"Taskfile.yml",
		"Taskfile.yaml"
	]) {
		const text = files.text(file);
		if (text === null) continue;
		if (/^t/i.test(file)) found.push({
			file,
			run: "task",
			names: taskNames(text)
		});
		else found.push({
			file,
			run: /^m/i.test(file) ? "make" : "just",
			names: ruleNames(text)
		});
	}
	return found;
}
function ruleNames(text) {
	return [...text.matchAll(/^@?([A-Za-z][\w-]*)(?:[ \t]+(?![=?+:])[^:\n]*)?:(?![:=])/gm)].map((match) => match[1] ?? "");
}
function taskNames(text) {
	try {
		const tasks = valueAt((0, import_dist.parse)(text), "tasks");
		return isTable(tasks) ? Object.keys(tasks) : [];
	} catch (error) {
		if (error instanceof import_dist.YAMLParseError) return [];
		throw error;
	}
}
function targetNamed(files, wanted) {
	for (const { file, run, names } of targetsOf(files)) {
		const name = wanted.find((each) => names.includes(each));
		if (name !== void 0) return {
			command: `${run} ${name}`,
			from: `target ${name} of ${file}`
		};
	}
	return null;
}
function testTarget(files) {
	return targetNamed(files, [
		"test",
		"tests",
		"check"
	]);
}
const BENCH_NAMES = [
	"bench",
	"benchmark",
	"benchmarks",
	"perf"
];
function benchTarget(files) {
	const found = targetNamed(files, BENCH_NAMES);
	return found === null ? null : {
		...found,
		output: "json",
		metric: null
	};
}
// src/setup/languages/go.ts
function detectGo(yard) {
	const { files } = yard;
	if (!files.paths.includes("go.mod")) return null;
	const sources = sourceFiles(files, /\.go$/).filter((path) => !path.endsWith("_test.go"));
	const tested = files.paths.some((path) => path.endsWith("_test.go") && !isForeign(path));
	return {
		language: "go",
		manager: "go",
		setup: files.paths.includes("go.sum") && !files.paths.includes("vendor/modules.txt") ? {
			command: "go mod download",
			from: "go.sum"
		} : null,
		test: tested ? {
			command: "go test ./...",
			from: "the _test.go files"
		} : null,
		bench: benchOf$3(files),
		mutable: ["**/*.go"],
		immutable: [...tested ? ["**/*_test.go"] : [], ...files.paths.some((path) => path.startsWith("bench/")) ? ["bench/"] : []],
		entry: entryOf$5(files, sources),
		interpreter: "go run",
		weight: sources.length,
		notes: []
	};
}
function benchOf$3(files) {
	const found = files.paths.flatMap((path) => {
		if (!path.endsWith("_test.go") || isForeign(path)) return [];
		return [...(files.text(path) ?? "").matchAll(/^func (Benchmark\w+)\(/gm)].map(([, name = ""]) => ({
			name,
			path,
			place: packageOf(path)
		}));
	});
	const [first] = found;
	if (first !== void 0) return toolBenchmark(`go test -run '^$' -bench . ${new Set(found.map(({ place }) => place)).size === 1 ? first.place : "./..."}`, found.length === 1 ? `${first.name} in ${first.path}` : `${found.length} benchmarks`, "go");
	return benchScript(files, /\.sh$/, "sh")?.found ?? benchTarget(files);
}
function packageOf(path) {
	return path.includes("/") ? `./${path.slice(0, path.lastIndexOf("/"))}` : ".";
}
/** A function that can be called with nothing, or else the program. */
function entryOf$5(files, sources) {
	const module = /^module\s+(\S+)/m.exec(files.text("go.mod") ?? "")?.[1];
	if (module === void 0) return null;
	for (const path of sources) {
		const text = files.text(path) ?? "";
		const isMain = /^package main\b/m.test(text);
		const name = /^func ((?!Main|Run|Serve|Listen|Start|Exit)[A-Z]\w*)\(\) [\w.*[\]]+ \{/m.exec(text)?.[1];
		if (!isMain && name !== void 0 && !/(?:^|\/)internal\//.test(path)) return {
			kind: "function",
			module: `${module}${path.includes("/") ? `/${path.slice(0, path.lastIndexOf("/"))}` : ""}`,
			name
		};
	}
	const main = sources.find((path) => /^package main\b/m.test(files.text(path) ?? "") && !path.startsWith("bench/"));
	return main === void 0 ? null : {
		kind: "program",
		command: packageOf(main)
	};
}
// src/setup/lockfiles.ts
/** Where the nearest of these files lies, from a project's directory up to the top of its repository. */
function nearestAbove({ repository, directory }, names) {
	const there = new Set(repository.paths);
	for (let at = directory; at !== null; at = parentOf(at)) {
		const name = names.find((each) => there.has(at === "" ? each : `${at}/${each}`));
		if (name !== void 0) return {
			name,
			directory: at,
			steps: stepsUp(directory, at)
		};
	}
	return null;
}
function parentOf(directory) {
	if (directory === "") return null;
	return directory.includes("/") ? directory.slice(0, directory.lastIndexOf("/")) : "";
}
function stepsUp(from, to) {
	const depth = (directory) => directory === "" ? 0 : directory.split("/").length;
	return depth(from) - depth(to);
}
/** A command that is to run some directories above; it is alone in its shell, so nothing has to go back. */
function runAbove(steps, command) {
	return steps === 0 ? command : `cd ${Array.from({ length: steps }, () => "..").join("/")} && ${command}`;
}
/** The same for a command that is not the last of its line. */
function aboveThenHere(steps, command) {
	return steps === 0 ? command : `(${runAbove(steps, command)})`;
}
// src/setup/languages/java.ts
function detectJava(yard) {
	const { files } = yard;
	const tool = toolOf(yard);
	if (tool === null) return null;
	const sources = sourceFiles(files, /\.(?:java|kt|scala)$/);
	const tested = files.paths.some((path) => path.startsWith("src/test/"));
	const setup = {
		command: tool.build,
		from: tool.from
	};
	const kotlin = sources.find((path) => path.startsWith("src/main/kotlin/"));
	return {
		language: "java",
		manager: tool.name,
		setup,
		test: tested ? {
			command: tool.test,
			from: "src/test/"
		} : null,
		bench: benchOf$2(files, tool),
		mutable: [kotlin !== void 0 && !sources.some(isJava) ? "src/main/kotlin/" : "src/main/"],
		immutable: [],
		entry: entryOf$4(files, sources, tool.classes),
		interpreter: `java -cp ${tool.classes}`,
		weight: sources.length,
		notes: []
	};
}
function isJava(path) {
	return path.endsWith(".java");
}
function toolOf(yard) {
	const { files } = yard;
	if (files.paths.includes("pom.xml")) {
		const { start, steps } = wrapper(yard, "mvnw", "mvn");
		const only = steps === 0 ? "" : ` -pl ${yard.directory} -am`;
		const run = (goal) => runAbove(steps, `${start} -q -B${only} ${goal}`);
		return {
			name: "maven",
			classes: "target/classes",
			build: run("-DskipTests package"),
			test: run("test"),
			from: "pom.xml"
		};
	}
	const script = ["build.gradle", "build.gradle.kts"].find((name) => files.paths.includes(name));
	if (script === void 0) return null;
	const { start } = wrapper(yard, "gradlew", "gradle");
	const run = (task) => `${start} --quiet --no-daemon ${task}`;
	return {
		name: "gradle",
		classes: "build/classes/java/main",
		build: run("classes"),
		test: run("test"),
		from: script
	};
}
function wrapper(yard, script, program) {
	const found = nearestAbove(yard, [script]);
	if (found === null || found.steps > 0 && script === "mvnw") {
		const root = program === "mvn" ? topPom(yard) : 0;
		return {
			start: found === null || root === 0 ? program : `./${script}`,
			steps: root
		};
	}
	const steps = script === "gradlew" ? 0 : found.steps;
	return {
		start: script === "gradlew" ? `./${"../".repeat(found.steps)}${script}` : `./${script}`,
		steps
	};
}
function topPom({ repository, directory }) {
	return directory !== "" && repository.paths.includes("pom.xml") ? directory.split("/").length : 0;
}
function benchOf$2(files, tool) {
	const script = benchScript(files, /\.(?:java|sh)$/, `java -cp ${tool.classes}`);
	if (script?.found.from.endsWith(".sh") === true) return {
		...script.found,
		command: `sh ${script.found.from}`
	};
	return script?.found ?? benchTarget(files);
}
/** A static method without arguments that is no main, or else the main class. */
function entryOf$4(files, sources, classes) {
	const known = sources.filter(isJava).map((path) => ({
		path,
		text: files.text(path) ?? ""
	}));
	for (const { path, text } of known) {
		const name = /public static (?!void\b)[\w<>[\], ]+ ((?!run|serve|start)\w+)\(\)/.exec(text)?.[1];
		const type = qualified(path);
		if (name !== void 0 && type !== null) return {
			kind: "function",
			module: type,
			name
		};
	}
	const main = known.find(({ text }) => /public static void main\(/.test(text));
	const type = main === void 0 ? null : qualified(main.path);
	return type === null ? null : {
		kind: "program",
		command: `java -cp ${classes} ${type}`
	};
}
function qualified(path) {
	return /^src\/main\/java\/(.+)\.java$/.exec(path)?.[1]?.replaceAll("/", ".") ?? null;
}
// src/setup/languages/node-timed.ts
const TINYBENCH = /(?:from|require\()\s*['"]tinybench['"]/;
const OTHERS = /(?:from|require\()\s*['"](mitata|benchmark|benny|cronometro)['"]/;
/**
* Libraries that run for a fixed time, however fast the code is: timing them from outside says nothing, so
* what they measured has to be printed.
*/
function withTimedLibrary(found, source) {
	if (source === null || found.metric !== null) return {
		bench: found,
		notes: []
	};
	if (TINYBENCH.test(source)) {
		const metric = {
			name: "geomean_median_ms",
			direction: "minimize"
		};
		const notes = /JSON\.stringify\([^;]*\.tasks\b/.test(source) ? [] : [`let ${found.from} print nothing but what tinybench measured: console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))))`];
		return {
			bench: {
				...found,
				output: "vitest",
				metric
			},
			notes
		};
	}
	const [, library] = OTHERS.exec(source) ?? [];
	if (library === void 0) return {
		bench: found,
		notes: []
	};
	return {
		bench: found,
		notes: [`${library} runs for a fixed time, so the time of ${found.from} says nothing: let it print METRIC <name>=<number>, and name that in metric.primary`]
	};
}
// src/setup/languages/node-bench.ts
/** A script of package.json first: that is where people say how it is run. */
function nodeBench(files, manifest, manager) {
	const named = scriptNamed(files, manifest, manager);
	if (named !== null) return named;
	if (usesVitest(manifest) && files.paths.some((path) => /\.(?:bench|benchmark)\.[cm]?[jt]sx?$/.test(path))) return {
		bench: vitestBench(`${manager.exec} vitest bench --run`, "*.bench files"),
		notes: []
	};
	const script = benchScript(files, /\.[cm]?js$/, "node");
	if (script !== null) {
		const { bench, notes } = withTimedLibrary(script.found, files.text(script.found.from));
		return {
			bench,
			notes: [...notes, ...othersNote(script.others)]
		};
	}
	return {
		bench: benchTarget(files),
		notes: []
	};
}
function scriptNamed(files, manifest, manager) {
	const scripts = valueAt(manifest, "scripts");
	const name = BENCH_NAMES.find((each) => textAt(scripts, each) !== null);
	if (name === void 0) return null;
	const text = textAt(scripts, name) ?? "";
	const from = `scripts.${name} of package.json`;
	const command = manager.run(name);
	const tool = toolScript(text, {
		command,
		from
	}, manager);
	if (tool !== null) return {
		bench: tool,
		notes: []
	};
	const source = sourceOf(files, text);
	return withTimedLibrary({
		command,
		from,
		...printedBy(source ?? text)
	}, source);
}
function toolScript(text, { command, from }, manager) {
	if (/\bvitest\b.*\bbench\b/.test(text)) return vitestBench(`${manager.exec} ${asOnce(text)}`, from);
	if (/\bhyperfine\b/.test(text)) return toolBenchmark(`${command}${manager.pass} --export-json "$WINNOW_RESULT_PATH"`, from, "hyperfine");
	return null;
}
/** `vitest bench` watches where it sees a terminal. */
function asOnce(text) {
	const own = /vitest\b[^&|;]*/.exec(text)?.[0].trim() ?? "vitest bench";
	return /(?:--run|\brun\b)/.test(own) ? own : `${own} --run`;
}
function vitestBench(command, from) {
	return toolBenchmark(`${command} --outputJson "$WINNOW_RESULT_PATH"`, from, "vitest");
}
/** What a script like `node bench/parse.mjs` starts, where it is a file that is read here. */
function sourceOf(files, script) {
	const words = script.split(/\s+/).map((word) => word.replace(/^\.\//, ""));
	for (const word of words) {
		const text = files.text(word);
		if (text !== null && /\.\w+$/.test(word)) return text;
	}
	return null;
}
function usesVitest(manifest) {
	return dependsOn(manifest, "vitest");
}
function dependsOn(manifest, name) {
	return ["dependencies", "devDependencies"].some((kind) => valueAt(manifest, kind, name) !== void 0);
}
// src/setup/languages/node-manager.ts
const NPM = {
	name: "npm",
	install: "npm ci",
	freeInstall: "npm install --no-package-lock",
	test: "npm test",
	run: (script) => `npm run --silent ${script}`,
	pass: " --",
	exec: "npx --no-install"
};
const PNPM = {
	name: "pnpm",
	install: "pnpm install --frozen-lockfile",
	freeInstall: "pnpm install --no-lockfile",
	test: "pnpm test",
	run: (script) => `pnpm --silent run ${script}`,
	pass: "",
	exec: "pnpm exec"
};
const YARN = {
	name: "yarn",
	install: "yarn install --immutable",
	freeInstall: "yarn install",
	test: "yarn test",
	run: (script) => `yarn run ${script}`,
	pass: "",
	exec: "yarn exec"
};
const YARN_CLASSIC = {
	...YARN,
	install: "yarn install --frozen-lockfile",
	freeInstall: "yarn install --no-lockfile",
	run: (script) => `yarn --silent run ${script}`,
	exec: "yarn --silent exec"
};
const BUN = {
	name: "bun",
	install: "bun install --frozen-lockfile",
	freeInstall: "bun install --no-save",
	test: "bun run test",
	run: (script) => `bun run --silent ${script}`,
	pass: "",
	exec: "bunx"
};
const LOCKS = {
	"pnpm-lock.yaml": PNPM,
	"bun.lock": BUN,
	"bun.lockb": BUN,
	"yarn.lock": YARN,
	"package-lock.json": NPM,
	"npm-shrinkwrap.json": NPM
};
function nodeManager(yard) {
	const lock = nearestAbove(yard, Object.keys(LOCKS));
	const declared = /^(npm|pnpm|yarn|bun)@(\d+)/.exec(declaredIn(yard) ?? "");
	const byLock = lock === null ? null : LOCKS[lock.name] ?? null;
	const manager = byName(declared?.[1]) ?? byLock ?? NPM;
	const classic = declared?.[1] === "yarn" ? declared[2] === "1" : !hasBerryConfig(yard);
	return {
		manager: manager === YARN && classic ? YARN_CLASSIC : manager,
		lock
	};
}
function declaredIn(yard) {
	return textAt(jsonOf(yard.files, "package.json"), "packageManager") ?? textAt(jsonOf(yard.repository, "package.json"), "packageManager");
}
function byName(name) {
	return [
		NPM,
		PNPM,
		YARN,
		BUN
	].find((each) => each.name === name) ?? null;
}
function hasBerryConfig({ repository }) {
	return repository.paths.includes(".yarnrc.yml");
}
// src/setup/languages/node.ts
const SOURCES = /\.[cm]?[jt]sx?$/;
const TESTS$2 = [
	{
		pattern: "**/*.test.*",
		matches: /\.test\.[^/]+$/
	},
	{
		pattern: "**/*.spec.*",
		matches: /\.spec\.[^/]+$/
	},
	{
		pattern: "**/__tests__/",
		matches: /(?:^|\/)__tests__\//
	}
];
function detectNode(yard) {
	const { files } = yard;
	const manifest = jsonOf(files, "package.json");
	const sources = sourceFiles(files, SOURCES);
	if (!files.paths.includes("package.json")) return null;
	const { manager } = nodeManager(yard);
	const { bench, notes } = nodeBench(files, manifest, manager);
	const mutable = placesOf(sources, [
		"src/",
		"lib/",
		"source/"
	]);
	return {
		language: "node",
		manager: manager.name,
		setup: setupOf$1(yard, manifest),
		test: testOf$1(files, manifest, manager.test, manager.exec),
		bench,
		mutable,
		immutable: testsAmong(files, mutable, TESTS$2),
		entry: entryOf$3(files, manifest),
		interpreter: "node",
		weight: sources.length,
		notes
	};
}
function setupOf$1(yard, manifest) {
	const { manager, lock } = nodeManager(yard);
	const steps = lock?.steps ?? 0;
	const needsPackages = [
		"dependencies",
		"devDependencies",
		"workspaces"
	].some((key) => Object.keys(Object(valueAt(manifest, key))).length > 0);
	const builds = needsBuild(yard.files, manifest);
	const install = lock === null ? manager.freeInstall : manager.install;
	const from = lock?.name ?? "package.json";
	if (!builds) return needsPackages || steps > 0 ? {
		command: runAbove(steps, install),
		from
	} : null;
	const build = manager.run("build");
	return {
		command: needsPackages || steps > 0 ? `${aboveThenHere(steps, install)} && ${build}` : build,
		from: `${from} and scripts.build`
	};
}
/** What people import is made by the build and not committed. */
function needsBuild(files, manifest) {
	if (textAt(manifest, "scripts", "build") === null) return false;
	const paths = declaredEntries(manifest);
	return paths.length > 0 && paths.every((path) => !files.paths.includes(path));
}
const NO_TEST = /no test specified/;
function testOf$1(files, manifest, test, exec) {
	const script = textAt(manifest, "scripts", "test");
	if (script !== null && !NO_TEST.test(script)) return {
		command: test,
		from: "scripts.test of package.json"
	};
	if (dependsOn(manifest, "vitest")) return {
		command: `${exec} vitest run`,
		from: "vitest in package.json"
	};
	if (dependsOn(manifest, "jest")) return {
		command: `${exec} jest`,
		from: "jest in package.json"
	};
	const own = files.paths.find((path) => /(?:^|\/)(?:test\/.*|[^/]+[._-]test)\.[cm]?js$/.test(path));
	return own === void 0 ? testTarget(files) : {
		command: "node --test",
		from: own
	};
}
function entryOf$3(files, manifest) {
	const usual = [
		"src/index.js",
		"src/index.mjs",
		"index.js",
		"index.mjs",
		"lib/index.js"
	];
	const built = needsBuild(files, manifest);
	const path = [...declaredEntries(manifest).filter((path) => built || files.paths.includes(path)), ...usual.filter((each) => files.paths.includes(each))].find((each) => /\.[cm]?js$/.test(each));
	if (path !== void 0) return {
		kind: "module",
		path
	};
	const program = binOf(manifest);
	if (program === null || !/\.[cm]?js$/.test(program)) return null;
	return {
		kind: "program",
		command: `node ${program} --help`
	};
}
function declaredEntries(manifest) {
	const exported = valueAt(manifest, "exports");
	return [
		typeof exported === "string" ? exported : firstText$1(valueAt(exported, ".") ?? null),
		textAt(manifest, "module"),
		textAt(manifest, "main")
	].flatMap((path) => path === null ? [] : [path.replace(/^\.\//, "")]);
}
function firstText$1(value) {
	if (typeof value === "string") return value;
	if (!isTable(value)) return null;
	for (const key of [
		"import",
		"node",
		"default",
		"require"
	]) {
		const found = firstText$1(value[key]);
		if (found !== null) return found;
	}
	return null;
}
function binOf(manifest) {
	const bin = valueAt(manifest, "bin");
	const path = typeof bin === "string" ? bin : Object.values(Object(bin))[0];
	return typeof path === "string" ? path.replace(/^\.\//, "") : null;
}
// src/setup/languages/python-packages.ts
const FOR_TESTS = /^(?:dev|develop|development|tests?|testing|bench|benchmarks?)$/i;
/** Requirement files that a benchmark or a test may need; those of documentation and of linters are none. */
function requirementFiles({ paths }) {
	const wanted = /^requirements(?:[-_.](?:dev|tests?|testing|bench|benchmarks?))?\.txt$/;
	return paths.filter((path) => wanted.test(path) || /^requirements\/(?:base|dev|tests?)\.txt$/.test(path));
}
function extrasOf(manifest) {
	const extras = valueAt(manifest, "project", "optional-dependencies");
	return isTable(extras) ? Object.keys(extras).filter((name) => FOR_TESTS.test(name)) : [];
}
/** Of groups that are no extras, which not every pip understands by name. */
function groupPackages(manifest) {
	const groups = valueAt(manifest, "dependency-groups");
	if (!isTable(groups)) return [];
	return Object.entries(groups).flatMap(([name, packages]) => FOR_TESTS.test(name) && Array.isArray(packages) ? packages.filter((one) => typeof one === "string") : []);
}
function namesPackage(text, name) {
	return new RegExp(`(?:^|["'\\s,\\[])${name}(?![\\w-])`, "m").test(text);
}
// src/setup/languages/python-manager.ts
/** `used`: packages that the tests and benchmarks show they need, whether a file names them or not. */
function pythonManager(yard, used) {
	const manifest = tomlOf(yard.files, "pyproject.toml");
	const uv = nearestAbove(yard, ["uv.lock"]);
	if (uv !== null) return {
		name: "uv",
		setup: uv.steps === 0 ? "uv sync --frozen" : "uv sync --frozen --inexact",
		from: "uv.lock",
		python: "uv run --frozen --no-sync python",
		notes: []
	};
	const poetry = nearestAbove(yard, ["poetry.lock"]);
	if (poetry !== null || valueAt(manifest, "tool", "poetry") !== void 0) {
		const install = "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --quiet";
		const from = poetry === null ? "tool.poetry of pyproject.toml" : "poetry.lock";
		return {
			name: "poetry",
			setup: runAbove(poetry?.steps ?? 0, install),
			from,
			python: "poetry run python",
			notes: []
		};
	}
	return pip(yard.files, used) ?? plain(yard);
}
/** Into a directory of its own: the person's Python is never written to. */
function pip(files, used) {
	const manifest = tomlOf(files, "pyproject.toml");
	const requirements = requirementFiles(files);
	const isProject = valueAt(manifest, "project") !== void 0 || files.paths.includes("setup.py");
	const extras = extrasOf(manifest);
	const packages = groupPackages(manifest);
	const given = [
		...requirements.map((file) => files.text(file) ?? ""),
		...packages,
		JSON.stringify(manifest)
	];
	const adds = used.filter((name) => !given.some((text) => namesPackage(text, name)));
	const needed = [
		valueAt(manifest, "project", "dependencies"),
		extras,
		packages,
		requirements,
		adds
	];
	if (!(files.paths.includes("setup.py") || needed.some(isFilled))) return null;
	const parts = [
		...requirements.flatMap((file) => ["-r", file]),
		...packages.map(quoted$5),
		...isProject ? ["-e", extras.length === 0 ? "." : quoted$5(`.[${extras.join(",")}]`)] : [],
		...adds
	];
	const from = [...requirements, ...isProject ? ["pyproject.toml or setup.py"] : []].join(", ") || "the tests";
	return {
		name: "pip",
		setup: `python3 -m venv .venv && .venv/bin/pip install --quiet ${parts.join(" ")}`,
		from,
		python: ".venv/bin/python",
		notes: adds.map((name) => `${name} is used, and no file names it: its newest version is installed; pin it in a requirements file`)
	};
}
function plain(yard) {
	return {
		name: null,
		setup: null,
		from: "",
		python: `PYTHONPATH=${yard.files.paths.some((path) => /^src\/.*\.py$/.test(path)) ? "src" : "."} python3`,
		notes: []
	};
}
function isFilled(value) {
	return Array.isArray(value) && value.length > 0;
}
function quoted$5(word) {
	return /^[\w.\-=]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
// src/setup/languages/python.ts
const MANIFESTS$1 = [
	"pyproject.toml",
	"setup.py",
	"setup.cfg",
	"requirements.txt"
];
const TESTS$1 = [
	{
		pattern: "**/test_*.py",
		matches: /(?:^|\/)test_[^/]+\.py$/
	},
	{
		pattern: "**/*_test.py",
		matches: /_test\.py$/
	},
	{
		pattern: "**/conftest.py",
		matches: /(?:^|\/)conftest\.py$/
	}
];
function detectPython(yard) {
	const { files } = yard;
	const sources = sourceFiles(files, /\.py$/);
	if (!MANIFESTS$1.some((name) => files.paths.includes(name)) && sources.length === 0) return null;
	const kind = testKind(files);
	const { name, setup, from, python, notes } = pythonManager(yard, usedPackages(files, kind));
	const { bench, others } = benchOf$1(files, python);
	const test = testCommand(files, kind, python);
	const mutable = placesOf(sources, ["src/"]);
	return {
		language: "python",
		manager: name,
		setup: setup === null ? null : {
			command: setup,
			from
		},
		test: bench?.output === "pytest-benchmark" ? untimed(test) : test,
		bench,
		mutable,
		immutable: testsAmong(files, mutable, TESTS$1),
		entry: entryOf$2(sources),
		interpreter: python,
		weight: sources.length,
		notes: [...notes, ...othersNote(others)]
	};
}
function usedPackages(files, kind) {
	const benchmarks = pytestBenchmarks(files).length > 0;
	return [...kind === "pytest" || benchmarks ? ["pytest"] : [], ...benchmarks ? ["pytest-benchmark"] : []];
}
/** Files with a test that takes the fixture. */
function pytestBenchmarks(files) {
	return files.paths.filter((path) => path.endsWith(".py") && /def test_\w+\([^)]*\bbenchmark\b/.test(files.text(path) ?? ""));
}
/** As tests, benchmarks run once and are not timed. */
function untimed(test) {
	return test === null ? null : {
		...test,
		command: `${test.command} --benchmark-disable`
	};
}
function testKind(files) {
	const tests = files.paths.filter((path) => /(?:^|\/)(?:test_[^/]+|[^/]+_test)\.py$/.test(path));
	const declared = [
		...MANIFESTS$1,
		"tox.ini",
		...requirementFiles(files)
	].map((path) => files.text(path) ?? "").some((text) => namesPackage(text, "pytest")) || files.paths.includes("pytest.ini");
	const texts = tests.map((path) => files.text(path) ?? "");
	if (tests.length === 0) return null;
	const classic = texts.some((text) => /^\s*(?:import|from)\s+unittest\b/m.test(text));
	const modern = texts.some((text) => /\bpytest\b/.test(text)) || files.paths.some((path) => path.endsWith("conftest.py"));
	return declared || modern || !classic ? "pytest" : "unittest";
}
function testCommand(files, kind, python) {
	if (kind === null) return testTarget(files);
	if (kind === "pytest") return {
		command: `${python} -m pytest -q`,
		from: "tests that pytest runs"
	};
	const home = ["tests", "test"].find((dir) => files.paths.some((path) => path.startsWith(`${dir}/`)));
	return {
		command: `${python} -m unittest${home === void 0 ? "" : ` discover -s ${home}${isPackage(files, home) ? " -t ." : ""}`}`,
		from: "tests that unittest runs"
	};
}
function isPackage({ paths }, directory) {
	return paths.includes(`${directory}/__init__.py`);
}
function benchOf$1(files, python) {
	const marked = pytestBenchmarks(files);
	const [first] = marked;
	if (first !== void 0) return {
		bench: toolBenchmark(`${python} -m pytest -q ${marked.length === 1 || !first.includes("/") ? first : first.slice(0, first.lastIndexOf("/"))} --benchmark-only --benchmark-json="$WINNOW_RESULT_PATH"`, first, "pytest-benchmark"),
		others: []
	};
	const script = benchScript(files, /\.py$/, python);
	if (script !== null) return {
		bench: script.found,
		others: script.others
	};
	return {
		bench: benchTarget(files),
		others: []
	};
}
/** The package that people import. */
function entryOf$2(sources) {
	const packages = sources.flatMap((path) => /^(?:src\/)?(\w+)\/__init__\.py$/.exec(path)?.[1] ?? []);
	const modules = sources.flatMap((path) => /^(?:src\/)?(\w+)\.py$/.exec(path)?.[1] ?? []);
	const [name] = [...packages, ...modules];
	return name === void 0 ? null : {
		kind: "module",
		path: name
	};
}
// src/setup/languages/ruby.ts
const TESTS = [{
	pattern: "**/*_test.rb",
	matches: /_test\.rb$/
}, {
	pattern: "**/*_spec.rb",
	matches: /_spec\.rb$/
}];
function detectRuby(yard) {
	const { files } = yard;
	const sources = sourceFiles(files, /\.rb$/);
	if (!files.paths.some((path) => /^(?:Gemfile|Rakefile|[^/]+\.gemspec)$/.test(path)) && sources.length === 0) return null;
	const bundled = nearestAbove(yard, ["Gemfile"]);
	const start = bundled === null ? "" : "bundle exec ";
	const ruby = `${start}ruby -Ilib`;
	const mutable = placesOf(sources, ["lib/", "app/"]);
	const script = benchScript(files, /\.rb$/, ruby);
	return {
		language: "ruby",
		manager: bundled === null ? null : "bundler",
		setup: bundled === null ? null : setupOf(yard, bundled.steps),
		test: testOf(files, start),
		bench: rakeBench(files, start) ?? script?.found ?? benchTarget(files),
		mutable,
		immutable: testsAmong(files, mutable, TESTS),
		entry: entryOf$1(sources),
		interpreter: ruby,
		weight: sources.length,
		notes: othersNote(script?.others ?? [])
	};
}
/** Into the project's directory: the person's gems are never written to. */
function setupOf(yard, steps) {
	const locked = nearestAbove(yard, ["Gemfile.lock"]) !== null;
	return {
		command: runAbove(steps, `bundle config set --local path vendor/bundle && ${locked ? "BUNDLE_FROZEN=true " : ""}bundle install --quiet`),
		from: locked ? "Gemfile.lock" : "Gemfile"
	};
}
function testOf(files, start) {
	const rakefile = files.text("Rakefile") ?? "";
	if (/RSpec::Core::RakeTask|\brspec\b/.test(files.text("Gemfile") ?? "") && hasBelow(files, "spec/")) return {
		command: `${start}rspec`,
		from: "spec/"
	};
	if (/TestTask|task\s*[:(]?\s*:?["']?test\b/.test(rakefile)) return {
		command: `${start}rake test`,
		from: "task test of Rakefile"
	};
	if (files.paths.filter((path) => /^test\/.*(?:^|\/|_)test(?:_\w+)?\.rb$|^test\/.*_test\.rb$/.test(path)).length === 0) return testTarget(files);
	return {
		command: `${start}ruby -Ilib -Itest -e 'Dir["test/**/{*_test,test_*}.rb"].each { |file| require "./#{file}" }'`,
		from: "test/"
	};
}
function hasBelow({ paths }, directory) {
	return paths.some((path) => path.startsWith(directory));
}
function rakeBench(files, start) {
	const text = files.text("Rakefile") ?? "";
	const name = BENCH_NAMES.find((each) => new RegExp(`^\\s*task\\s*\\(?\\s*:?["']?${each}\\b`, "m").test(text));
	if (name === void 0) return null;
	return {
		command: `${start}rake ${name}`,
		from: `task ${name} of Rakefile`,
		output: "json",
		metric: null
	};
}
function entryOf$1(sources) {
	const [name] = sources.flatMap((path) => /^lib\/([^/]+)\.rb$/.exec(path)?.[1] ?? []);
	return name === void 0 ? null : {
		kind: "module",
		path: name
	};
}
// src/setup/languages/rust.ts
function detectRust(yard) {
	const { files } = yard;
	if (!files.paths.includes("Cargo.toml")) return null;
	const manifest = tomlOf(files, "Cargo.toml");
	const sources = sourceFiles(files, /\.rs$/);
	const locked = nearestAbove(yard, ["Cargo.lock"]) === null ? "" : " --locked";
	const bench = benchOf(files, manifest, locked);
	const mutable = sources.some((path) => path.startsWith("src/")) ? ["src/"] : ["**/src/"];
	const inside = sources.some((path) => path.startsWith("src/") && /#\[test\]/.test(files.text(path) ?? ""));
	return {
		language: "rust",
		manager: "cargo",
		setup: {
			command: bench?.output === "cargo" ? `cargo bench --no-run${locked}` : `cargo build --release${locked}`,
			from: locked === "" ? "Cargo.toml" : "Cargo.lock"
		},
		test: {
			command: `cargo test --quiet${locked}`,
			from: "Cargo.toml"
		},
		bench,
		mutable,
		immutable: testsAmong(files, mutable, [{
			pattern: "**/tests.rs",
			matches: /(?:^|\/)tests\.rs$/
		}]),
		entry: entryOf(files, manifest),
		interpreter: "cargo run",
		weight: sources.length,
		notes: inside ? ["tests inside src/ may be changed with the code they test: tests/ is outside what may change"] : []
	};
}
function benchOf(files, manifest, locked) {
	const declared = valueAt(manifest, "bench");
	const names = Array.isArray(declared) ? declared.flatMap((one) => textAt(one, "name") ?? []) : [];
	const own = files.paths.flatMap((path) => /^benches\/([^/]+)(?:\.rs|\/main\.rs)$/.exec(path)?.[1] ?? []);
	const all = [.../* @__PURE__ */ new Set([...names, ...own])];
	const [first] = all;
	if (first !== void 0) {
		const which = all.length === 1 ? ` --bench ${first}` : " --benches";
		const from = all.length === 1 ? `benches/${first}.rs` : `${all.length} benches`;
		return toolBenchmark(`cargo bench${locked}${which}`, from, "cargo");
	}
	return benchScript(files, /\.sh$/, "sh")?.found ?? benchTarget(files);
}
function entryOf(files, manifest) {
	const name = textAt(manifest, "package", "name");
	if (name === null) return null;
	const library = files.text("src/lib.rs");
	const called = library === null ? void 0 : /^pub fn ((?!main|run|serve|listen|start)\w+)\(\) ->/m.exec(library)?.[1];
	if (called !== void 0) return {
		kind: "function",
		module: name,
		name: called
	};
	if (library !== null || files.paths.includes("src/lib.rs")) return {
		kind: "module",
		path: name
	};
	return files.paths.includes("src/main.rs") ? {
		kind: "program",
		command: `target/release/${name}`
	} : null;
}
// src/setup/languages/shell.ts
/** What is left where no other language is found: scripts, make targets, or nothing but files. */
function detectShell(yard) {
	const { files } = yard;
	const scripts = sourceFiles(files, /\.(?:sh|bash)$/);
	const bench = benchScript(files, /\.(?:sh|bash)$/, "sh");
	const target = benchTarget(files);
	if (scripts.length === 0 && bench === null && target === null && testTarget(files) === null) return null;
	const sources = scripts.length > 0 ? scripts : files.paths.filter((path) => /^(?:src|lib)\//.test(path));
	const [program] = scripts;
	return {
		language: "shell",
		manager: null,
		setup: null,
		test: testTarget(files) ?? testScript(files),
		bench: bench?.found ?? target,
		mutable: placesOf(sources, [
			"src/",
			"lib/",
			"bin/"
		]),
		immutable: [],
		entry: program === void 0 ? null : {
			kind: "program",
			command: `sh ${program} --help`
		},
		interpreter: "sh",
		weight: scripts.length,
		notes: othersNote(bench?.others ?? [])
	};
}
function testScript({ paths }) {
	const own = paths.find((path) => /^(?:tests?\/(?:run|test|all)\.(?:sh|bash)|tests?\.sh|bench\/test\.sh)$/.test(path));
	const suite = paths.find((path) => /^tests?\/[^/]+\.bats$/.test(path));
	if (suite !== void 0) return {
		command: `bats ${suite.slice(0, suite.indexOf("/"))}`,
		from: suite
	};
	return own === void 0 ? null : {
		command: `sh ${own}`,
		from: own
	};
}
// src/setup/detect.ts
const DETECTORS = {
	node: detectNode,
	python: detectPython,
	go: detectGo,
	rust: detectRust,
	java: detectJava,
	ruby: detectRuby,
	shell: detectShell
};
/** The language that is meant: of several, one with a benchmark, then the one with most files. */
function detect(yard, wanted) {
	const all = LANGUAGES.flatMap((language) => DETECTORS[language](yard) ?? []);
	const real = all.filter(({ language }) => language !== "shell");
	const ordered = (real.length > 0 && wanted !== "shell" ? real : all).toSorted((a, b) => Number(b.bench !== null) - Number(a.bench !== null) || b.weight - a.weight);
	const findings = wanted === void 0 ? ordered[0] : ordered.find(({ language }) => language === wanted);
	if (findings === void 0) throw nothingFound(yard, wanted, all);
	return {
		findings,
		others: ordered.map(({ language }) => language).filter((language) => language !== findings.language)
	};
}
function nothingFound({ directory }, wanted, all) {
	const where = directory === "" ? "here" : `in ${directory}`;
	if (wanted === void 0) return new UserError(`no project of a language that init knows was found ${where}, as far as it is committed`, { fix: `commit it first, or write .winnow/<name>.yaml by hand: four lines are enough (${LANGUAGES.join(", ")} are known)` });
	const found = all.map(({ language }) => language).join(", ") || "none";
	return new UserError(`no ${wanted} project was found ${where}; found: ${found}`, { fix: `--language is one of ${LANGUAGES.join(", ")}` });
}
// src/verbs/committed-project.ts
const LARGEST_BYTES = 524288;
/** What is committed on the default branch: experiments start from that, and from nothing else. */
async function committedProject({ repository }, base) {
	const files = (await treeFiles(repository, base.tree)).filter(({ mode }) => mode.startsWith("100"));
	const oids = new Map(files.map(({ path, oid }) => [path, oid]));
	const paths = [...oids.keys()];
	const texts = /* @__PURE__ */ new Map();
	for (const path of readsFor(paths)) {
		const content = await repository.blob(oids.get(path) ?? "");
		if (content.length <= LARGEST_BYTES) texts.set(path, content.toString("utf8"));
	}
	return projectFiles(paths, texts);
}
// src/verbs/usual-setup.ts
/** What `init` would write as the set-up here; null where nothing is to be installed, or nothing is known. */
async function usualSetup(workshop, base) {
	const files = await committedProject(workshop, base);
	try {
		return detect({
			files,
			repository: files,
			directory: ""
		}, void 0).findings.setup?.command ?? null;
	} catch (error) {
		if (error instanceof UserError) return null;
		throw error;
	}
}
// src/verbs/not-passed.ts
/** A side that does not work, said so that its person can mend it: what, where, what it printed, what would help. */
async function notPassed(trying, reason, report) {
	const [first = "", ...more] = reason.replace(/^the base does not pass: /, "").split("\n");
	const line = after(more, "in: ");
	const example = after(more, "valid: ");
	const { said, ...detail } = await failureIn(trying, report, null);
	const own = first.replace(/^the base's /, "the ");
	const what = said === null ? own : `${own}: ${said}`.replace(/^missing metric: [^:]*: /, "");
	return new HarnessError(`${trying.named} does not pass: ${what}`, {
		...detail,
		...line === void 0 ? {} : { line },
		...example === void 0 ? {} : { example }
	});
}
function after(lines, start) {
	return lines.find((line) => line.startsWith(start))?.slice(start.length);
}
/** What failed of one side, or of any: what it was, its last words, and what to do about them. */
async function failureIn(trying, report, label) {
	const of = ({ side }) => label === null || side === label;
	const run = report.executions.find((each) => of(each) && each.status !== "ok");
	const gate = report.gates.find((each) => of(each) && !each.passed);
	const setup = report.setups.find((each) => of(each) && !each.ok);
	const { measurement, gates } = trying.spec;
	if (setup !== void 0) {
		const tail = setup.tail ?? "";
		return {
			said: null,
			...detailOf(measurement.setup ?? "", tail),
			...await advice(trying, tail, setup)
		};
	}
	if (gate !== void 0) {
		const command = gates.find(({ name }) => name === gate.name)?.command ?? gate.name;
		const tail = gate.tail ?? "";
		return {
			said: null,
			...detailOf(command, tail),
			...await advice(trying, tail, gate)
		};
	}
	if (run === void 0) return absence(trying, report);
	const tail = run.stderr_tail ?? "";
	const timed = { timed_out: run.status === "timeout" };
	const help = run.status === "bad-output" ? {} : await advice(trying, tail, timed);
	return {
		said: null,
		...detailOf(measurement.command, tail),
		...help
	};
}
function detailOf(command, tail) {
	return {
		command,
		...tail === "" ? {} : { stderrTail: tail }
	};
}
/** Everything ran, and numbers are missing: not printed, or printed as something that is none. */
function absence({ spec }, { executions }) {
	const printed = printedNames(executions, BUILT_IN_METRICS);
	const needed = /* @__PURE__ */ new Set([...neededMetrics(spec), ...decisiveMetrics(spec)]);
	const missing = executions.some(({ status }) => status === "ok") ? missingMetrics([...needed].filter((name) => !BUILT_IN_METRICS.has(name)), printed) : null;
	if (missing !== null) return {
		said: null,
		command: spec.measurement.command,
		...missing
	};
	const [first] = absentMetrics(spec, executions).filter(({ name }) => needed.has(name));
	if (first === void 0) return { said: null };
	return {
		said: absentText(first, printed),
		command: spec.measurement.command
	};
}
async function advice(trying, tail, { timed_out }) {
	const { timeout, setup, share } = trying.keys;
	if (timed_out) return { fix: `raise ${timeout} if it needs longer; it has no input that it could be waiting for` };
	const file = await uncommittedFile(trying, tail);
	if (file !== null) return { fix: `${file} is in your work tree and not committed: commit it, or name it in ${share}` };
	if (trying.spec.measurement.setup !== null || !MISSING.test(tail)) return {};
	const usual = await usualSetup(trying.workshop, trying.base);
	return { fix: `it runs in a fresh copy of what is committed, with no node_modules and no builds: give ${setup} ${usual === null ? "what installs and builds" : JSON.stringify(usual)}, or install what is missing` };
}
const MISSING = /not found|cannot find|no such file|no module named|ModuleNotFoundError|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND/i;
const WORD$2 = /[\w@+.-]+(?:\/[\w@+.-]+)*/g;
/** Something that is named there, lies beside the committed files, and so was not in the copy. */
async function uncommittedFile({ workshop, base }, tail) {
	const { topLevel } = workshop.checkout;
	if (topLevel === null || !MISSING.test(tail)) return null;
	const words = new Set(tail.match(WORD$2)?.map((word) => word.replace(/^.*\/at\/tree\//, "")) ?? []);
	for (const word of [...words].filter((each) => /[/.]/.test(each) && !each.startsWith("."))) {
		if (word.includes("..") || !existsSync(join(topLevel, word))) continue;
		if (await workshop.repository.entryAt(base.tree, word) === null) return word;
	}
	return null;
}
// src/verbs/trial-order.ts
/** A trial ends by the time-outs of its parts, never by a deadline of its own. */
const YEAR = 31536e6;
/** The order that a campaign on this base would begin with, which no ledger knows. */
function trialOrder(trying, purpose, jobs) {
	const { spec, base } = trying;
	const campaign = {
		...emptyCampaign(),
		incumbent: base
	};
	const carried = jobs.length === 0 ? {} : { twin: [...jobs] };
	return unrecordedOrder(trying, ownRequest({
		campaign,
		spec
	}, purpose, {
		attempt: 1,
		carried
	}));
}
/** An order as a tick would make it, with coins of its own, of which nothing is written down. */
async function unrecordedOrder(trying, request) {
	const { call, workshop, spec, base } = trying;
	const { random, clock } = call.around;
	const { purpose, round, attempt, candidates, stop, carried = {} } = request;
	const coins = random.hex(32);
	return {
		purpose,
		round,
		attempt,
		candidates,
		stop,
		carried,
		id: sha256(`trial ${coins}`),
		spec_sha256: sha256("trial"),
		harness: await harnessOf(workshop.repository, spec, base.tree),
		pin: base,
		base,
		coins,
		deadline: new Date(clock.now() + YEAR).toISOString()
	};
}
// src/verbs/trial.ts
async function tryHarness(trying) {
	const campaign = {
		...emptyCampaign(),
		incumbent: trying.base
	};
	if (needsCalibration({
		...trying,
		campaign
	})) {
		const { report, repeats } = await tryRepeats(trying);
		if (repeats.deterministic) return {
			...measured$2(trying, report),
			calibration: {
				...repeats,
				noise: null
			},
			prospects: null
		};
		return tryNoise(trying, `${repeats.reason}; `);
	}
	if (needsNoise({
		...trying,
		campaign
	})) return tryNoise(trying, "");
	return {
		...measured$2(trying, await tryOnce(trying)),
		calibration: null,
		prospects: null
	};
}
/** Whatever was not needed to pass, and will be asked for all the same. */
function warningsOf$1({ spec }, { executions }) {
	const names = printedNames(executions, BUILT_IN_METRICS);
	return absentMetrics(spec, executions).map((absent) => absentText(absent, names));
}
function measured$2(trying, report) {
	const runs = report.executions.filter(({ role }) => role === "sample");
	return {
		seconds: runs.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0) / Math.max(1, runs.length),
		metrics: typicalMetrics(report, "base"),
		gates: [...new Set(report.gates.map(({ name }) => name))],
		warnings: warningsOf$1(trying, report)
	};
}
/** Rules that compare with a stored score, or run each side once, take the harness at its word. */
async function tryOnce(trying) {
	const spec = {
		...trying.spec,
		measurement: {
			...trying.spec.measurement,
			stability: null
		}
	};
	const { order, report } = await ask({
		...trying,
		spec
	}, "baseline");
	const { outcome, reason } = assess({
		spec,
		order,
		report,
		label: "base",
		baseline: null
	});
	if (outcome !== "eligible") throw await notPassed(trying, reason, report);
	return report;
}
async function tryRepeats(trying) {
	const { spec } = trying;
	const { report } = await ask(trying, "calibration");
	const repeats = calibrate(spec, report);
	if (!repeats.failed) return {
		report,
		repeats
	};
	const refused = notComparable(spec, repeats.values[spec.metric.primary.name] ?? []);
	if (refused !== null) throw new UserError(refused, { place: { path: "evidence.scale" } });
	throw await notPassed(trying, repeats.reason, report);
}
/** Pairs of the base with itself, in as many jobs as a campaign begins with. */
async function tryNoise(trying, known) {
	const { spec, call } = trying;
	const jobs = [];
	for (;;) {
		call.around.progress.say(`trying the harness: job ${jobs.length + 1} of ${trying.short} against itself`);
		const { order, report } = await ask(trying, "noise", jobs);
		await requirePairs(trying, report);
		jobs.push(jobOf$1(askedIn(order), measuredIn$1(report), "twin"));
		if (jobs.length < 2) continue;
		const found = calibrateNoise(spec, report, jobs);
		if (!("suspected" in found)) return noisy(trying, {
			report,
			found,
			known
		});
	}
}
function noisy(trying, { report, found, known }) {
	const { spec } = trying;
	if ("refused" in found) throw new UserError(found.refused);
	const { scale, noise, reason } = found;
	const calibration = {
		deterministic: false,
		scale,
		reason: `${known}${reason}`,
		noise
	};
	return {
		...measured$2(trying, report),
		calibration,
		prospects: prospectsOf(spec, {
			scale,
			noise,
			singleMachine: true
		})
	};
}
async function requirePairs(trying, report) {
	const { spec } = trying;
	const failure = failureOf$1({
		spec,
		report,
		label: "twin",
		pairs: true
	});
	if (failure !== null) throw await notPassed(trying, failure.reason, report);
	const { name } = spec.metric.primary;
	if (typeof typicalMetrics(report, "base")[name] !== "number") throw await notPassed(trying, `missing metric: ${name}`, report);
}
async function ask(trying, purpose, jobs = []) {
	const order = await trialOrder(trying, purpose, jobs);
	const report = await measureTrial(trying, order);
	if (report.runner_error !== null) throw await notPassed(trying, `the runner failed: ${report.runner_error}`, report);
	return {
		order,
		report
	};
}
function measureTrial(trying, order) {
	const { call, workshop, spec, place, what, more } = trying;
	return measureHere(call, workshop, {
		order,
		spec,
		place,
		what,
		...more === void 0 ? {} : { more }
	});
}
// src/verbs/check.ts
const check = {
	name: "check",
	group: "start",
	summary: "say whether a spec would run, what it costs and what it can show",
	access: "read",
	arguments: [{
		name: "spec",
		summary: "a spec file, where there are several",
		required: false
	}],
	options: [{
		name: "no-try",
		summary: "only read: run neither set-up, gates nor harness on the default branch"
	}],
	examples: ["winnow check", "winnow check .winnow/parser.yaml --no-try"],
	exits: {
		2: "the spec cannot be run as it is, or its harness is not fair",
		13: "the harness or a gate failed"
	},
	run: (call) => atRepository(call, DEFAULT_PREFIX, async (workshop) => {
		const text = await specToCheck(call, workshop);
		const base = await defaultTip(workshop, call.around);
		const { spec } = parseSpec(text.yaml, { file: text.path });
		return checkSpec(call, {
			workshop,
			text,
			base,
			warnings: await warningsOf(call, workshop, text.path, spec)
		});
	})
};
/** Says everything about one spec, and tries it unless told not to; 2 where a run would refuse it. */
async function checkSpec(call, asked) {
	const { spec, view } = await reading(asked);
	const says = (lines) => {
		if (!call.given.flag("json")) for (const line of lines) call.terminal.out(line);
	};
	says(checkText(view));
	const trial = !isBlocked(view) && !call.given.flag("no-try") ? await tryWatched({
		...HARNESS,
		call,
		spec,
		...asked
	}) : null;
	const whole = trial === null ? view : tried$1(spec, view, trial);
	const about = {
		yaml: asked.text.yaml,
		tree: asked.base.tree
	};
	if (trial !== null) await noteForecast(call, asked.workshop, about, campaignSeconds(spec, trial));
	if (!isBlocked(view)) says(comparisonText(spec, whole));
	if (call.given.flag("json")) call.terminal.json(whole);
	return isBlocked(view) ? 2 : 0;
}
/** Tried, and looked at meanwhile: what it holds would stand in the way of others beside it. */
async function tryWatched(trying) {
	const watch = watchHoldings(join(trying.workshop.dataDir, "work", trying.place));
	try {
		const live = (seconds) => `trying the harness ${clockText(seconds)}`;
		const trial = await showingLive(trying.call, live, () => tryHarness(trying));
		return {
			...trial,
			warnings: [...trial.warnings, ...holdingsText(watch.end(), trying.spec)]
		};
	} finally {
		watch.end();
	}
}
const HARNESS = {
	named: "the default branch",
	short: "the base",
	what: "winnow check",
	place: "trial",
	keys: {
		setup: "measurement.setup:",
		timeout: "measurement.timeout_seconds",
		share: "parallel.shared_files"
	}
};
function campaignSeconds(spec, { prospects, seconds }) {
	return prospects === null ? mostSeconds(spec, seconds) : 60 * Math.max(...prospects.campaign.minutes);
}
/** All that can be said without running anything. */
async function reading({ workshop, text, base, warnings }) {
	const { path, yaml, source } = text;
	const { spec, notes } = parseSpec(yaml, { file: path });
	await requireOwnName(workshop, spec.name, path);
	return {
		spec,
		view: {
			file: path,
			campaign: spec.name,
			rules: spec.rules,
			source,
			scope: await scopeOf(workshop, spec, base),
			notes,
			unsupported: unsupported(spec),
			warnings: [...warnings, ...unshowable(spec)],
			ideas: ideaSources(spec),
			forecast: forecast(spec),
			metrics: comparedMetrics(spec, null),
			tried: null
		}
	};
}
function tried$1(spec, view, trial) {
	const deterministic = trial.calibration?.deterministic ?? null;
	return {
		...view,
		metrics: comparedMetrics(spec, deterministic),
		tried: trial
	};
}
/** A run would not know which of the two is meant. */
async function requireOwnName(workshop, name, path) {
	const known = (await knownCampaigns(workshop, path)).find((each) => each.name === name);
	const paths = /* @__PURE__ */ new Set([path, ...known?.spec === null ? [] : known?.paths ?? []]);
	if (paths.size > 1) throw twins(name, [...paths]);
}
/** Said here and not after the calibration that would refuse it. */
function unshowable(spec) {
	const way = wayOf$1(spec, null);
	if (spec.evidence.min_effect !== 0 || way === "once" || way === "stored score") return [];
	const what = "evidence.min_effect is 0, and a noisy metric can never show that";
	const fix = "give the smallest gain worth having, such as 0.02";
	if (way === "pairs") throw new UserError(what, {
		place: { path: "evidence.min_effect" },
		fix
	});
	return [`${what}: unless ${spec.metric.primary.name} repeats exactly, ${fix}`];
}
async function warningsOf(call, workshop, path, spec) {
	const committed = await workshop.repository.entryAt((await defaultTip(workshop, call.around)).tree, path);
	const absent = `${path} is not committed on ${shortRef(workshop.defaultBranch ?? "")}${workshop.local ? "" : " of the remote"}: a run does not see it`;
	const unused = await unusedWork(workshop, path, call.around.env, compileScope(spec));
	return committed === null ? [absent, ...unused] : unused;
}
const EXAMPLES = 3;
/** Patterns are resolved against what is committed: that is what experiments start from. */
async function scopeOf({ repository }, spec, base) {
	const files = (await treeFiles(repository, base.tree)).map(({ path }) => path);
	const scope = compileScope(spec);
	const mutable = files.filter((path) => scope.isMutable(path));
	const outside = files.filter((path) => !scope.isMutable(path));
	const unmatched = spec.scope.mutable.filter((pattern) => !files.some(compilePathspec(pattern)));
	const examples = {
		mutable: mutable.slice(0, EXAMPLES),
		outside: outside.slice(0, EXAMPLES)
	};
	return {
		mutable: mutable.length,
		outside: outside.length,
		unmatched,
		examples
	};
}
// src/report/compare-text.ts
/** One sentence first, then what it rests on, what it cannot know, and what it cost. */
function compareText(view, compared, differing) {
	const { sentence, evidence_line: evidence } = view;
	if (compared.end === "same") return [sentence];
	return [
		sentence,
		...evidence === null ? [] : [`  ${evidence}`],
		...failureLines(view, compared),
		...noiseLine(compared),
		...view.compared === "pairs" ? [`  ${ONE_MACHINE}`] : [],
		...view.compared === null ? [] : [`  ${rulerText(compared, differing)}`],
		`  ${costText(view, compared)}`,
		...furtherText(view, compared)
	];
}
const ONE_MACHINE = "one machine: new builds stood for fresh runners, so what is special to this machine is not averaged out";
function failureLines({ failure }, { assessment }) {
	if (failure === null) return [];
	const { command, printed_last: printed, fix } = failure;
	const [, ...more] = (assessment?.reason ?? "").split("\n");
	return [
		...more.map((line) => `  ${line}`),
		...command === null ? [] : [`  ran: ${command}`],
		...printed === null ? [] : ["  it printed last:", ...printed.split("\n").slice(-LINES$1).map((line) => `    ${line}`)],
		...fix === null ? [] : [`  fix: ${fix}`]
	];
}
const LINES$1 = 15;
function noiseLine({ trial }) {
	const said = calibrationText(trial?.calibration ?? null);
	return said === null ? [] : [`  ${said}`];
}
/** No scope, no pin: who wrote the change could have written the benchmark too. */
function rulerText({ spec, head }, differing) {
	const named = rulersAmong(differing, spec.measurement);
	const own = "unprotected: each side ran the benchmark that it has itself";
	if (named.length === 0) return `${own}; no file that the command names differs`;
	return `${own}, and ${named.join(", ")} ${named.length === 1 ? "differs" : "differ"}: make sure that ${head.name} did not change what is measured`;
}
const MANIFESTS = {
	npm: ["package.json", "package-lock.json"],
	pnpm: ["package.json", "pnpm-lock.yaml"],
	yarn: ["package.json", "yarn.lock"],
	bun: ["package.json", "bun.lock"],
	npx: ["package.json", "package-lock.json"],
	make: [
		"Makefile",
		"makefile",
		"GNUmakefile"
	],
	cargo: ["Cargo.toml", "Cargo.lock"],
	go: ["go.mod", "go.sum"]
};
/** Files that differ and that the command names: themselves, a folder above them, or what its tool reads. */
function rulersAmong(differing, { command, working_directory: directory }) {
	const words = command.split(/[\s'"=:;&|()]+/).map((word) => word.replace(/^\.\//, "").replace(/\/$/, ""));
	const manifests = words.flatMap((word) => Object.hasOwn(MANIFESTS, word) ? MANIFESTS[word] ?? [] : []);
	const files = /* @__PURE__ */ new Set([...words.filter((word) => /\w/.test(word)), ...manifests]);
	const folders = [...files].filter((word) => word.length > 1);
	const start = directory === "." ? "" : `${directory}/`;
	return differing.filter((path) => {
		const here = path.startsWith(start) ? path.slice(start.length) : path;
		return files.has(here) || folders.some((folder) => here.startsWith(`${folder}/`));
	});
}
function costText({ executions, seconds }, { base }) {
	const { calibration, comparison } = executions;
	const first = calibration === 0 ? "" : `, ${calibration} of them of ${base.name} with itself`;
	return `cost: ${plural(calibration + comparison, "execution")}${first}, ${durationText(seconds)} of this machine`;
}
/** Not proven is no dead end: how much could have been seen, and what would show more. */
function furtherText({ verdict }, { trial, paired, end }) {
	const prospects = trial?.prospects ?? null;
	if (verdict !== "not proven" || prospects === null || paired === null) return [];
	const { smallest_visible_gain: visible, max_jobs } = prospects;
	return [`  next: ${visible === null ? "no gain could be seen through this noise" : `with this noise ${sizeText(visible, paired.rule.scale)} is the smallest gain shown with a chance of 80 %`}${end === "decided" ? `; --max-jobs ${2 * max_jobs} goes on longer` : ""}`];
}
// src/report/compare-sentence.ts
/** What the second side is called where it is no commit. */
const WORK_TREE = "your work tree";
/** The one sentence that answers: how much, where the truth lies, and what it took. */
function compareSentence(compared, word, standing) {
	const said = sentence(compared, word, standing);
	return said.startsWith(compared.head.name) && compared.head.name !== "your work tree" ? said : capitalised(said);
}
function sentence(compared, word, standing) {
	const { base, head, end, assessment } = compared;
	if (end === "same") return `${head.name} and ${base.name} have the same files: there is nothing to compare, and nothing was run.`;
	if (word === "broken" || word === "refused") return `${head.name} is ${word}: ${(assessment?.reason ?? "").split("\n")[0]}`;
	return `${standing === null ? onceText(compared, word) : pairsText(compared, word, standing)}${standing === null ? "" : cost(compared)}.`;
}
function cost({ paired, executions, seconds }) {
	const pairs = paired?.jobs.flatMap((job) => job.pairs).length ?? 0;
	return `, ${plural(pairs, "pair")}, ${plural(executions.comparison, "execution")}, ${durationText(seconds)}`;
}
function pairsText(compared, word, standing) {
	const sure = effectPhrase(compared, standing, "");
	const probable = effectPhrase(compared, standing, "probably ");
	switch (word) {
		case "better":
		case "worse": return sure;
		case "no gain": return `no gain of ${leastText(compared)} or more: ${probable}`;
		case "not proven":
		case "refused":
		case "broken": return `${unproven(compared)}: ${probable}${compared.end === "decided" ? "" : " so far"}`;
		default: return word;
	}
}
function unproven({ end, seconds, paired }) {
	switch (end) {
		case "decided": return `not proven in ${plural(paired?.jobs.length ?? 0, "job")}`;
		case "time": return `not proven within ${durationText(seconds)}`;
		case "interrupted":
		case "declined":
		case "same": return "interrupted, and not proven";
		default: return end;
	}
}
/** "my-branch is 4.1 % faster than main (between 2.9 and 5.2 %)" */
function effectPhrase({ base, head, spec, paired }, standing, sure) {
	const [{ name, direction }] = objectivesOf(spec.metric);
	const { effect, interval } = effectOf$1(standing.primary.differences);
	if (effect === null) return `${head.name} could not be compared with ${base.name}`;
	const measured = {
		name,
		direction,
		scale: paired?.rule.scale ?? "log"
	};
	const { size, word, range, unit } = effectWords(effect, interval, measured);
	const between = range === null ? " (too few pairs to say between what)" : ` (between ${range[0]} and ${range[1]}${unit})`;
	return `${head.name} ${predicate(name, `${sure}${size}${unit} ${word}`)} than ${base.name}${between}`;
}
function predicate(name, much) {
	if (name === "wall_seconds") return `is ${much}`;
	if (name === "cpu_seconds" || name === "max_rss_mb") return `needs ${much}`;
	return `has ${much} ${name}`;
}
function leastText({ paired, spec }) {
	const least = paired?.rule.min_effect ?? spec.evidence.min_effect ?? 0;
	const [{ name, direction }] = objectivesOf(spec.metric);
	if (paired?.rule.scale === "linear") return `${numberText(least)} ${name}`;
	return `${numberText(Number((Math.abs(shareOf(least, direction)) * 100).toPrecision(2)))} %`;
}
/** What repeats exactly needs no interval: both numbers say all. */
function onceText(compared, word) {
	const { base, head, spec, label, report, end, executions, seconds } = compared;
	if (report === null || end !== "decided") return `${end === "time" ? "the time was up" : "interrupted"} before ${head.name} and ${base.name} were compared: nothing is known yet`;
	const [{ name }] = objectivesOf(spec.metric);
	const [before, after] = [typicalMetrics(report, "base")[name], typicalMetrics(report, label)[name]];
	const change = typeof before === "number" && typeof after === "number" ? changeText(name, before, after) : name;
	const took = `it repeats exactly, ${plural(executions.comparison, "execution")}, ${durationText(seconds)}`;
	if (before === after) return `${head.name} and ${base.name} come out the same: ${change}; ${took}`;
	if (word === "no gain") return `no gain worth having: ${head.name} against ${base.name}, ${change}; ${took}`;
	return `${head.name} is ${word} than ${base.name}: ${change}; ${took}`;
}
// src/report/compare-view.ts
const INTERRUPTED$1 = 130;
function compareView(compared) {
	const { spec, trial, paired, executions, seconds } = compared;
	const [{ name, direction }] = objectivesOf(spec.metric);
	const measured = paired !== null && paired.jobs.length > 0 ? paired : null;
	const standing = measured === null ? null : standingOf$1(measured);
	const calibration = trial?.calibration ?? null;
	const verdict = wordOf(compared);
	return {
		verdict,
		sentence: compareSentence(compared, verdict, standing),
		evidence_line: measured && standing && evidenceLine(measured, standing),
		base: sideView(compared, "base"),
		head: sideView(compared, "head"),
		metric: {
			name,
			direction
		},
		compared: wayOf(compared),
		scale: calibration?.scale ?? null,
		min_effect: paired?.rule.min_effect ?? spec.evidence.min_effect,
		...effectIn(standing),
		pairs: measured?.jobs.flatMap(({ pairs }) => pairs).length ?? 0,
		jobs: measured?.jobs.length ?? 0,
		executions,
		seconds,
		noise: calibration?.noise ?? null,
		failure: failureView(compared)
	};
}
function wayOf({ paired, report }) {
	if (paired !== null) return paired.jobs.length === 0 ? null : "pairs";
	return report === null ? null : "once";
}
function effectIn(standing) {
	if (standing === null) return {
		effect: null,
		interval: null,
		evidence: null
	};
	const { evidence: reached, threshold: needed } = verdict(standing.primary);
	return {
		...effectOf$1(standing.primary.differences),
		evidence: {
			reached,
			needed
		}
	};
}
function sideView({ base, head, label, report }, which) {
	const { name, point } = which === "base" ? base : head;
	const metrics = report === null ? {} : typicalMetrics(report, which === "base" ? "base" : label);
	return {
		name,
		...point,
		metrics
	};
}
function wordOf({ end, assessment }) {
	if (end === "same") return "no gain";
	if (assessment === null) return "not proven";
	switch (assessment.outcome) {
		case "eligible": return "better";
		case "dropped": return assessment.worse ? "worse" : "no gain";
		case "inconclusive":
		case "promising": return "not proven";
		case "refused": return "refused";
		case "censored":
		case "degenerate":
		case "error":
		case "timeout": return "broken";
		default: return assessment.outcome;
	}
}
/** What a script learns of it (design section 9). */
function compareExit({ verdict }, end) {
	if (end === "interrupted" || end === "declined") return INTERRUPTED$1;
	return EXIT_CODES[verdict === "better" ? "kept" : verdict];
}
function failureView({ failure }) {
	if (failure === null) return null;
	const { command = null, stderrTail = null, fix = null } = failure;
	return {
		command,
		printed_last: stderrTail,
		fix
	};
}
// src/verbs/compare-measure.ts
/** The second of the two, by the only kind of name that orders have for it. */
const HEAD$1 = experimentName(1);
const ATTEMPTS = 3;
function nothingYet() {
	return {
		trial: null,
		paired: null,
		assessment: null,
		report: null,
		executions: {
			calibration: 0,
			comparison: 0
		}
	};
}
/** The base against itself, and then the two against each other: as a campaign would, and nothing is written. */
async function measureComparison(comparing) {
	const { known, forecast } = comparing;
	const trying = counting(comparing);
	known.trial = await tryHarness(trying);
	await forecast(known.trial);
	if (known.trial.calibration?.deterministic) {
		known.assessment = await once(comparing);
		if (!known.assessment.determinism_lost) return;
		known.trial = await tryNoise(trying, `${known.assessment.reason}; `);
		await forecast(known.trial);
	}
	known.assessment = await byPairs(comparing);
}
function counting({ trying, known }) {
	let before = 0;
	const onExecution = async (executions) => {
		if (executions.length === 1) before = known.executions.calibration;
		known.executions.calibration = before + executions.length;
		await trying.more?.onExecution?.([...executions]);
	};
	return {
		...trying,
		more: {
			...trying.more,
			onExecution
		}
	};
}
function campaignOf({ trying, known }) {
	const found = known.trial?.calibration ?? null;
	const calibration = found === null ? null : {
		...found,
		order: ""
	};
	return {
		...emptyCampaign(),
		incumbent: trying.base,
		calibration
	};
}
function request({ sides }, stop, jobs) {
	const { commit: head, tree } = sides.head.point;
	const carried = jobs.length === 0 ? {} : { [HEAD$1]: [...jobs] };
	return {
		purpose: "experiment",
		round: 0,
		attempt: 1,
		candidates: [{
			label: HEAD$1,
			head,
			tree
		}],
		stop,
		carried
	};
}
async function once(comparing) {
	const { spec } = comparing.trying;
	const { scale = "log" } = comparing.known.trial?.calibration ?? {};
	return assessed(comparing, {
		rule: "once",
		min_effect: spec.evidence.min_effect ?? 0,
		scale
	}, []);
}
/** One job after the other, each a new build, until the rule says that it is decided (decision.md 3.3). */
async function byPairs(comparing) {
	const { spec } = comparing.trying;
	const rule = ruleOf(comparing);
	const terms = rule.terms[HEAD$1];
	if (terms === void 0) throw new TypeError("the rule has no terms");
	const jobs = [];
	for (;;) {
		comparing.known.paired = {
			spec,
			rule,
			terms,
			jobs: [...jobs]
		};
		comparing.begins(jobs.length + 1);
		const assessment = await assessed(comparing, rule, jobs);
		jobs.push(...comparing.known.paired.jobs.slice(jobs.length));
		if (assessment.outcome !== "promising") return assessment;
	}
}
function ruleOf(comparing) {
	const { spec } = comparing.trying;
	const rule = pairedStop({
		campaign: campaignOf(comparing),
		spec,
		singleMachine: true
	}, []);
	const { alpha: level, max_jobs } = spec.evidence;
	const terms = {
		as: "idea",
		level,
		share: 0,
		max_jobs,
		variant: 0,
		touched: null
	};
	return {
		...rule,
		terms: { [HEAD$1]: terms }
	};
}
/** What fails on the base's side, or on the runner's, is nobody's verdict and is measured again. */
async function assessed(comparing, stop, jobs) {
	const { trying, known } = comparing;
	for (let attempt = 1;; attempt++) {
		const order = await unrecordedOrder(trying, request(comparing, stop, jobs));
		const report = await measureTrial(watched(comparing, order), order);
		known.report = report;
		takeIn$1(known, order, {
			executions: report.executions,
			runner: measuredIn$1(report).runner
		});
		const { spec } = trying;
		const assessment = assess({
			spec,
			order,
			report,
			label: HEAD$1,
			baseline: null
		});
		if (!assessment.retry) return assessment;
		if (attempt >= ATTEMPTS) throw await notPassed(trying, assessment.reason, report);
	}
}
function watched(comparing, order) {
	const { trying, known } = comparing;
	const before = known.executions.comparison;
	const onExecution = async (executions) => {
		known.executions.comparison = before + executions.length;
		takeIn$1(known, order, {
			executions,
			runner: bootId()
		});
	};
	return {
		...trying,
		more: {
			...trying.more,
			onExecution
		}
	};
}
/** The pairs of the job under way beside those of the jobs before it. */
function takeIn$1(known, order, measured) {
	if (known.paired === null) return;
	const job = jobOf$1(askedIn(order), measured, HEAD$1);
	const carried = order.carried[HEAD$1] ?? [];
	known.paired = {
		...known.paired,
		jobs: job.pairs.length === 0 ? carried : [...carried, job]
	};
}
// src/verbs/compare-raw.ts
/** Everything the verdict was computed from, as JSON lines, so that anybody can compute it again. */
async function writeRaw({ around }, path, view, { paired, report, label }) {
	const { base, head, metric, scale, verdict } = view;
	const lines = [{
		kind: "comparison",
		base,
		head,
		metric,
		scale,
		verdict,
		rule: paired === null ? null : {
			...paired.rule,
			terms: paired.terms
		}
	}];
	for (const [job, { runner, complete, pairs }] of (paired?.jobs ?? []).entries()) {
		lines.push({
			kind: "job",
			job: job + 1,
			runner,
			complete
		});
		for (const [pair, values] of pairs.entries()) lines.push({
			kind: "pair",
			job: job + 1,
			pair: pair + 1,
			...values
		});
	}
	if (paired === null) for (const { side, ...execution } of report?.executions ?? []) lines.push({
		kind: "execution",
		side: side === label ? "head" : side,
		...execution
	});
	const target = resolve(around.directory, path);
	const part = `${target}.${around.random.hex(4)}.part`;
	try {
		await writeFile(part, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
		await rename(part, target);
	} catch (cause) {
		throw new UserError(`the raw pairs could not be written to ${target}`, {
			place: { file: path },
			fix: "give a file in a directory that exists and can be written",
			cause
		});
	}
}
// src/report/compare-progress.ts
/** What calibration found, and what the comparison will take; nothing where it is over in a moment. */
function compareForecast(trial, { base, head }) {
	const { calibration, prospects } = trial;
	if (calibration?.deterministic) return [`${base.name} repeats exactly: one execution of each is enough, and a second of a gain`];
	if (prospects === null) return [];
	const [least, most] = [prospects.null_idea.minutes, prospects.good_idea.minutes].map((minutes) => minutes * 60).toSorted((a, b) => a - b);
	const range = `${durationText(least ?? 0)} to ${durationText(most ?? 0)}`;
	return [`fair: ${base.name} was not told apart from itself; ${visibleText(trial, prospects)}`, `now ${base.name} against ${head.name}: mostly ${range}, at most ${durationText(compareSeconds(trial))}`];
}
function visibleText({ calibration }, { smallest_visible_gain: visible }) {
	if (visible === null) return "the noise hides every gain";
	return `a gain of ${sizeText(visible, calibration?.scale ?? "log")} would be seen with a chance of 80 %`;
}
/** All jobs, each used to its end. */
function compareSeconds({ seconds, calibration, prospects }) {
	const noise = calibration?.noise ?? null;
	if (prospects === null || noise === null) return 4 * seconds;
	const { pairs_per_job: pairs, max_jobs: jobs } = prospects;
	return jobs * (2 * pairs * noise.execution_seconds + noise.overhead_seconds);
}
/** The same from one execution alone, before anything is known of the noise. */
function earlySeconds({ evidence }, execution) {
	return execution * (4 * (pairsPerJob(evidence, 0) + 1) + evidence.max_jobs * 2 * (pairsPerJob(evidence, execution) + 1));
}
/** One line where a job begins: what the jobs before it say. */
function soFarLine(paired, spec, job) {
	const place = `job ${job} of at most ${spec.evidence.max_jobs}`;
	if (paired === null || paired.jobs.length === 0) return `${place}: begins`;
	return `${place}: ${evidenceSentence(paired, standingOf$1(paired))}`;
}
/** For the line at the bottom of a terminal. */
function compareLive({ trial, paired, executions }, { base, head }, elapsed) {
	const time = durationText(elapsed);
	if (trial === null) return `${base.name} against itself: ${executions.calibration} executions, ${time}`;
	const pairs = paired?.jobs.flatMap((job) => job.pairs).length ?? 0;
	const place = `${head.name} against ${base.name}: ${plural(pairs, "pair")}, ${time} of at most ${durationText(compareSeconds(trial))}`;
	return paired === null || pairs === 0 ? place : `${place}; ${evidenceSentence(paired, standingOf$1(paired))}`;
}
// src/verbs/compare-run.ts
function liveLine$1(measuring, elapsed) {
	return measuring.asking ? null : compareLive(measuring.known, measuring.sides, elapsed);
}
function tryingFor(call, workshop, { spec, sides: { base } }) {
	return {
		call,
		workshop,
		spec,
		base: base.point,
		named: base.name,
		short: base.name,
		what: "winnow compare",
		place: "compare",
		keys: {
			setup: "--setup",
			timeout: "--timeout",
			share: "--share"
		},
		more: { unpinned: true }
	};
}
const BROKEN = /* @__PURE__ */ new Set([
	"error",
	"timeout",
	"degenerate"
]);
async function failureOf(call, workshop, measuring) {
	const { assessment, report } = measuring.known;
	if (assessment === null || report === null || !BROKEN.has(assessment.outcome)) return null;
	const { said, ...failure } = await failureIn(tryingFor(call, workshop, measuring), report, HEAD$1);
	return said === null ? failure : {
		...failure,
		fix: said
	};
}
/** Asked at most once, as soon as it is known that much is at stake: after the first execution, or the calibration. */
function agreement(call, measuring, over) {
	const { minutes } = measuring;
	let agreed = false;
	return async (seconds) => {
		const stake = {
			seconds: minutes === null ? seconds : Math.min(seconds, 60 * minutes),
			money: [],
			bound: "most"
		};
		if (agreed || stakeText(stake) === null) return;
		agreed = true;
		measuring.asking = true;
		call.terminal.live(null);
		if (!await goesOn(call, stake)) over.abort();
		measuring.asking = false;
	};
}
/** How it ended: by its rule, or by the person, their clock, or their answer. */
async function measured$1(call, workshop, measuring) {
	const { spec, sides, known, minutes } = measuring;
	const over = new AbortController();
	const time = minutes === null ? null : AbortSignal.timeout(minutes * 6e4);
	const interrupt = AbortSignal.any([
		call.interrupt,
		over.signal,
		...time === null ? [] : [time]
	]);
	const agree = agreement(call, measuring, over);
	const trying = tryingFor({
		...call,
		interrupt
	}, workshop, measuring);
	const onExecution = async ([first]) => {
		if (first !== void 0) await agree(earlySeconds(spec, first.wall_seconds));
	};
	const forecast = async (trial) => {
		for (const line of compareForecast(trial, sides)) call.around.progress.say(line);
		await agree(compareSeconds(trial));
		interrupt.throwIfAborted();
	};
	try {
		await measureComparison({
			trying: {
				...trying,
				more: {
					...trying.more,
					onExecution
				}
			},
			sides,
			known,
			forecast,
			begins: (number) => tell(call, measuring, number)
		});
		return "decided";
	} catch (error) {
		if (call.interrupt.aborted) return "interrupted";
		if (over.signal.aborted) return "declined";
		if (time?.aborted) return "time";
		throw error;
	}
}
function tell(call, { known, spec }, number) {
	call.around.progress.say(soFarLine(known.paired, spec, number));
}
// src/git/work-tree.ts
/**
* What lies in a person's work tree, as a tree of winnow's own repository (invariant 12): a copy of the index is
* brought up to date in a place of ours; their index, HEAD and objects are only read.
*/
async function readWorkTree(question) {
	const { into, topLevel, head, env, takes } = question;
	const folder = await mkdtemp(join(scratchOf(into), "work-tree-"));
	try {
		const index = join(folder, "index");
		await copyIndex(await gitRunner(ownerIsolation(topLevel, env)).run(indexPath), index);
		const aside = gitRunner(ownerIsolation(topLevel, env), {
			GIT_INDEX_FILE: index,
			GIT_OBJECT_DIRECTORY: join(into, "objects")
		});
		const unmerged = await aside.run(lines(["ls-files", "--unmerged"]));
		if (unmerged.length > 0) return { unmerged: [...new Set(unmerged.map(conflicted))] };
		return await takeIn({
			aside,
			folder,
			head,
			takes
		});
	} finally {
		await rm(folder, {
			recursive: true,
			force: true
		});
	}
}
/**
* With the second it was written in: a file changed since then, to the same size, is known by that alone. None
* where nothing was ever added.
*/
async function copyIndex(from, to) {
	const written = await stat(from).catch(nullIfMissing);
	if (written === null) return;
	await copyFile(from, to);
	const second = Math.floor(written.mtimeMs / 1e3);
	await utimes(to, second, second);
}
/** From HEAD on, so that what was staged is read anew as well: its content may be in nobody's repository but theirs. */
async function takeIn({ aside, folder, head, takes }) {
	const staged = await aside.run(lines([
		"diff-index",
		"--cached",
		"--name-only",
		"--no-renames",
		"--diff-filter=A",
		head
	]));
	await aside.run(told$1([
		"read-tree",
		"--reset",
		head
	]));
	await aside.run(told$1([
		"add",
		"--update",
		"--verbose",
		"--",
		"."
	]));
	const unknown = await aside.run(lines([
		"ls-files",
		"--others",
		"--exclude-standard"
	]));
	const known = new Set(staged);
	const taken = unknown.filter((line) => known.has(line) || isFile(line) && takes(unquotePath(line)));
	const forced = await stillThere(aside, staged);
	const list = join(folder, "paths");
	await writeFile(list, [.../* @__PURE__ */ new Set([...taken, ...forced])].map((line) => `${line}\n`).join(""));
	if (taken.length + forced.length > 0) await aside.run(told$1([...ADD_LISTED, `--pathspec-from-file=${list}`]));
	const leftOut = unknown.filter((line) => !taken.includes(line)).map(unquotePath);
	return {
		tree: await aside.run(writeTree),
		leftOut
	};
}
/** A split index would put its other half beside theirs. */
const OWN_FILE = ["-c", "core.splitIndex=false"];
const ADD_LISTED = [
	"--literal-pathspecs",
	"add",
	"--force",
	"--verbose"
];
/** Another repository inside this one is printed as a folder. */
function isFile(line) {
	return !line.endsWith("/") && !line.endsWith("/\"");
}
/** Of those that were staged as new, also where they are ignored. */
async function stillThere(aside, staged) {
	if (staged.length === 0) return [];
	const all = new Set(await aside.run(lines(["ls-files", "--others"])));
	return staged.filter((line) => all.has(line));
}
const indexPath = {
	args: [
		"rev-parse",
		"--path-format=absolute",
		"--git-path",
		"index"
	],
	parse: ({ stdout }) => stdout.trimEnd()
};
const writeTree = {
	args: ["write-tree"],
	parse: ({ stdout }) => stdout.trim()
};
/** Names stay quoted as git prints them: that is also how it reads them from a file. */
function lines(args) {
	return {
		args: [...OWN_FILE, ...args],
		parse: ({ stdout }) => stdout.split("\n").filter((line) => line !== "")
	};
}
function told$1(args) {
	return {
		args: [...OWN_FILE, ...args],
		parse: () => void 0
	};
}
/** `100644 <oid> <stage>`, then the path. */
function conflicted(line) {
	return unquotePath(line.slice(line.indexOf("	") + 1));
}
// src/verbs/compare-sides.ts
/** Both sides, in winnow's own repository. Without a second name it is the work tree as it stands, as in `git diff`. */
async function comparedSides(call, workshop) {
	const [baseName = "", headName] = call.given.positionals;
	const base = await namedSide(call, workshop, baseName);
	const { head, notes } = headName === void 0 ? await workTreeSide(call, workshop) : await committedSide(call, workshop, headName);
	return {
		base,
		head,
		differing: (await treeDifferences(workshop.repository, base.point.tree, head.point.tree)).map(({ path }) => path),
		notes
	};
}
async function namedSide({ around }, workshop, name) {
	const { repository, checkout } = workshop;
	const commit = await commitNamed(around, name);
	await repository.fetchFrom(checkout.commonDir, commit);
	return {
		name,
		point: {
			commit,
			tree: (await repository.commit(commit)).tree
		}
	};
}
async function workTreeSide(call, workshop) {
	const { env } = call.around;
	const { topLevel } = workshop.checkout;
	if (topLevel === null) throw new UserError("there is no work tree here that could be compared", { fix: "name both: winnow compare <base> <head> -- <command>" });
	const committed = await namedSide(call, workshop, "HEAD");
	const { repository } = workshop;
	const { commit: head, tree: before } = committed.point;
	const read = await readWorkTree({
		into: repository.dir,
		topLevel,
		head,
		env,
		takes: () => true
	});
	if ("unmerged" in read) throw unresolved$1(read.unmerged);
	const point = {
		commit: head,
		tree: read.tree
	};
	const changed = (await treeDifferences(repository, before, read.tree)).map(({ path }) => path);
	return {
		head: {
			name: WORK_TREE,
			point
		},
		notes: workTreeNotes(changed, read.leftOut)
	};
}
function unresolved$1(paths) {
	return new UserError(`a merge is not finished: conflict in ${few(paths)}`, { fix: "resolve it, then type the same again; or name both sides: winnow compare <base> <head> -- <command>" });
}
function workTreeNotes(changed, inside) {
	const many = plural(changed.length, "uncommitted change");
	return [...changed.length === 0 ? [] : [`your work tree is measured as it stands, with ${many}: ${few(changed)}`], ...inside.length === 0 ? [] : [`another repository inside it is left out: ${few(inside)}`]];
}
async function committedSide(call, workshop, name) {
	const head = await namedSide(call, workshop, name);
	const { topLevel } = workshop.checkout;
	const changed = topLevel === null ? [] : await uncommittedPaths(topLevel, call.around.env);
	if (changed.length === 0 || topLevel === null) return {
		head,
		notes: []
	};
	if (await commitNamed(call.around, "HEAD") !== head.point.commit) return {
		head,
		notes: []
	};
	return {
		head,
		notes: [`${name} is measured as committed: ${plural(changed.length, "uncommitted change")} of your work tree ${changed.length === 1 ? "is" : "are"} not in it (${few(changed)}); leave ${name} out to measure the work tree`]
	};
}
function few(paths, most = 3) {
	return paths.slice(0, most).join(", ") + (paths.length > most ? ", …" : "");
}
/** A commit of the person's repository, by any name git has for it. */
async function commitNamed({ directory, env }, name) {
	const git = gitRunner(localIsolation(directory, env));
	const found = await git.run({
		args: [
			"rev-parse",
			"--verify",
			"--quiet",
			"--end-of-options",
			`${name}^{commit}`
		],
		answers: [1, 128],
		parse: (output) => output
	});
	if (found.exitCode === 0) return found.stdout.trim();
	const names = await git.run({
		args: [
			"for-each-ref",
			"--format=%(refname:short)",
			"refs/heads",
			"refs/tags",
			"refs/remotes"
		],
		parse: ({ stdout }) => stdout.split("\n").filter((each) => each !== "")
	});
	if (name === "HEAD") throw new UserError("this repository has no commits yet", { fix: "commit first" });
	const near = nearest(name, names);
	throw new UserError(`there is no branch, tag or commit ${JSON.stringify(name)} in this repository`, { fix: near === void 0 ? fetchFirst(names) : `did you mean ${near}?` });
}
function fetchFirst(names) {
	return `${names.length === 0 ? "it has none" : `it has ${few(names, 5)}`}; what is only on the remote has to be fetched first (git fetch)`;
}
// src/verbs/compare-spec.ts
/** What a spec file would say, as far as a comparison needs it. */
const COMPARE_OPTIONS = [
	{
		name: "metric",
		value: "name",
		summary: "a metric that the command prints; wall_seconds by default"
	},
	{
		name: "direction",
		values: ["minimize", "maximize"],
		summary: "which way is better (minimize)"
	},
	{
		name: "output",
		value: "format",
		summary: "what the command prints: json (default), metric-lines, …"
	},
	{
		name: "setup",
		value: "command",
		summary: "install and build on each side, not timed: npm ci"
	},
	{
		name: "gate",
		value: "command",
		many: true,
		summary: "has to pass on both sides: npm test"
	},
	{
		name: "share",
		value: "path",
		many: true,
		summary: "an uncommitted file that both sides need"
	},
	{
		name: "env",
		value: "name",
		many: true,
		summary: "a variable of yours that the command may see"
	},
	{
		name: "timeout",
		value: "seconds",
		summary: "end an execution that takes longer (600)"
	},
	{
		name: "min-effect",
		value: "share",
		summary: "the smallest gain worth having: 2% by default"
	},
	{
		name: "pairs",
		value: "number",
		summary: "pairs in each job: 8, or 4 where executions are long"
	},
	{
		name: "max-jobs",
		value: "number",
		summary: "jobs until it is given up as not proven (8)"
	}
];
const COMMAND_LINE = "the command line";
/** A spec needs a gate, since what passes is merged; here nothing is. */
const ANY = {
	name: "wall_seconds",
	check: ">= 0"
};
/** The spec that nobody has to write. Every path may differ: each side runs what it has itself, in the directory the person is in. */
function compareSpec(given, directory) {
	const effect = effectOf(given);
	const parsed = parsedOptions(JSON.stringify({
		winnow: 1,
		name: "compare",
		metric: {
			primary: {
				name: metricOf$1(given),
				direction: given.text("direction") ?? "minimize"
			},
			degenerate_gates: [ANY]
		},
		measurement: {
			command: commandOf(given.command),
			working_directory: directory,
			setup: given.text("setup") ?? null,
			output: given.text("output") ?? "json",
			timeout_seconds: numberOf$1(given, "timeout") ?? 600,
			env: given.texts("env")
		},
		gates: [...new Set(given.texts("gate"))].map((command) => ({
			name: command,
			command
		})),
		evidence: {
			campaign_control: "fixed",
			min_effect: effect,
			pairs_per_job: wholeOf(given, "pairs") ?? "auto",
			max_jobs: wholeOf(given, "max-jobs") ?? 8
		},
		parallel: { shared_files: given.texts("share") },
		scope: { mutable: ["**"] }
	}));
	const spec = {
		...parsed,
		metric: {
			...parsed.metric,
			degenerate_gates: []
		}
	};
	const [missing] = unsupported(spec);
	if (missing !== void 0) throw new UserError(missing.replace("measurement.output", "--output"));
	return spec;
}
/** What a spec may not say, said of the option that said it. */
function parsedOptions(text) {
	try {
		return parseSpec(text, { file: COMMAND_LINE }).spec;
	} catch (error) {
		const problem = error instanceof SpecErrors ? error.problems[0] : void 0;
		if (problem === void 0) throw error;
		const option = OPTION_OF.find(([path]) => problem.path.startsWith(path))?.[1] ?? problem.path;
		throw new UserError(`${option}: ${problem.found} is not possible`, { fix: `give ${problem.expected}` });
	}
}
const OPTION_OF = [
	["measurement.output", "--output"],
	["measurement.env", "--env"],
	["measurement.command", "the command"],
	["parallel.shared_files", "--share"],
	["metric.primary.name", "--metric"],
	["gates", "--gate"],
	["evidence.min_effect", "--min-effect"]
];
/** One word is a line for the shell; several are the words of one command, as they were given. */
function commandOf(words) {
	const [only] = words;
	return words.length === 1 && only !== void 0 ? only : words.map(quoted$4).join(" ");
}
function quoted$4(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
function metricOf$1(given) {
	const name = given.text("metric");
	if (name !== void 0 || given.text("output") === void 0) return name ?? "wall_seconds";
	throw new UserError("--output says how to read a metric, and no metric is named", { fix: "add --metric <name>; without either, winnow times the command itself" });
}
/** 3% and 0.03 are the same; a bare 3 could only be a mistake, but where a metric is counted in units. */
function effectOf(given) {
	const text = given.text("min-effect");
	if (text === void 0) return null;
	const percent = text.endsWith("%");
	const value = Number(percent ? text.slice(0, -1) : text);
	if (text.trim() === "" || !(value > 0) || !Number.isFinite(value)) throw new UserError(`--min-effect ${text} is not a gain`, { fix: "give a share, like 3% or 0.03" });
	if (!percent && value >= 1 && given.text("metric") === void 0) throw new UserError(`--min-effect ${text} would be ${value * 100} %`, { fix: `did you mean ${text}%?` });
	return percent ? value / 100 : value;
}
function wholeOf(given, name) {
	const value = numberOf$1(given, name);
	if (value === null || Number.isInteger(value)) return value;
	throw new UserError(`--${name} ${value} is not a whole number`, { fix: "give 1 or more" });
}
function numberOf$1(given, name) {
	const text = given.text(name);
	if (text === void 0) return null;
	const value = Number(text);
	if (Number.isFinite(value) && value > 0) return value;
	throw new UserError(`--${name} ${text} is not a number above 0`, { fix: `give a number: --${name} 10` });
}
// src/verbs/compare.ts
const compare = {
	name: "compare",
	group: "start",
	summary: "say whether one commit is better than another; nothing is written",
	access: "apart",
	arguments: [{
		name: "base",
		summary: "a branch, tag or commit",
		required: true
	}, {
		name: "head",
		summary: "another; by default your work tree as it stands, with what is not committed and not ignored",
		required: false
	}],
	command: {
		name: "command",
		summary: "what to measure, run in a fresh copy of each side: words of one command, or one quoted line for the shell"
	},
	options: [
		...COMPARE_OPTIONS,
		{
			name: "max-minutes",
			value: "minutes",
			summary: "stop then, whatever is known"
		},
		{
			name: "raw",
			value: "file",
			summary: "write every pair to this file, as JSON lines"
		},
		{
			name: "json",
			summary: "print JSON; progress goes to stderr"
		},
		{
			name: "yes",
			short: "y",
			summary: "do not ask before a comparison that takes more than an hour"
		}
	],
	examples: [
		"winnow compare main -- npm run bench",
		"winnow compare main my-branch --setup \"npm ci\" -- npm run bench",
		"winnow compare v1.2.0 v1.3.0 --metric bytes --max-minutes 10 -- node size.js"
	],
	exits: {
		0: "the second is better",
		10: "it is worse, or no gain worth having is there",
		11: "not proven",
		12: "refused: an execution changed files it must not change",
		13: "broken: the command or a gate failed",
		130: "interrupted; what was known is said"
	},
	run(call) {
		if ((call.given.text("remote") ?? "none") !== "none") throw new UserError("compare reads this repository alone", { fix: "git fetch, then name the branch as git does: origin/main" });
		const around = {
			...call.around,
			remote: "none"
		};
		compareSpec(call.given, ".");
		const minutes = numberOf$1(call.given, "max-minutes");
		return atRepository({
			...call,
			around
		}, DEFAULT_PREFIX, (workshop) => inWorkshop$1({
			...call,
			around
		}, workshop, {
			spec: compareSpec(call.given, directoryIn(workshop, around.directory)),
			minutes
		}));
	}
};
/** Where the person is, in the repository: there the command is run on both sides. */
function directoryIn({ checkout: { topLevel } }, directory) {
	return topLevel === null ? "." : relative(topLevel, directory) || ".";
}
async function inWorkshop$1(call, workshop, asked) {
	const say = (line) => call.around.progress.say(line);
	const sides = await comparedSides(call, workshop);
	for (const note of sides.notes) say(`note: ${note}`);
	const same = sides.differing.length === 0;
	if (!same) say(differText(sides));
	const begun = call.around.clock.monotonic();
	const known = nothingYet();
	const measuring = {
		...asked,
		sides,
		known,
		asking: false
	};
	const end = same ? "same" : await showingLive(call, (elapsed) => liveLine$1(measuring, elapsed), () => measured$1(call, workshop, measuring));
	const seconds = (call.around.clock.monotonic() - begun) / 1e3;
	const failure = await failureOf(call, workshop, measuring);
	const compared = {
		...known,
		...sides,
		spec: asked.spec,
		label: HEAD$1,
		seconds,
		end,
		failure
	};
	const view = compareView(compared);
	const raw = call.given.text("raw");
	if (raw !== void 0) await writeRaw(call, raw, view, compared);
	if (call.given.flag("json")) call.terminal.json({
		...view,
		end,
		differing: sides.differing,
		notes: sides.notes
	});
	else for (const line of compareText(view, compared, sides.differing)) call.terminal.out(line);
	return compareExit(view, end);
}
function differText({ base, head, differing }) {
	const count = differing.length === 1 ? "1 file" : `${differing.length} files`;
	return `${base.name} (${base.point.commit.slice(0, 12)}) and ${head.name} differ in ${count}: ${few(differing)}`;
}
// src/verbs/verb.ts
const EVERYWHERE = [{
	name: "help",
	short: "h",
	summary: "show what a command does"
}, {
	name: "verbose",
	summary: "show the stack of an internal error"
}];
const REPOSITORY = [
	{
		name: "directory",
		short: "C",
		value: "dir",
		summary: "work as if started in this directory"
	},
	{
		name: "remote",
		value: "name|none",
		summary: "the remote to use, or none to stay in this repository"
	},
	{
		name: "cache-dir",
		value: "dir",
		summary: "where winnow keeps its own repository and work"
	}
];
const CAMPAIGN = {
	name: "campaign",
	value: "campaign",
	summary: "which campaign, where there are several"
};
const JSON_OUTPUT = {
	name: "json",
	summary: "print JSON"
};
const DRY_RUN = {
	name: "dry-run",
	summary: "say exactly what would be written, and write nothing"
};
/** The word for an option's value; undefined for a switch. */
function valueWord({ value, values }) {
	return value ?? values?.join("|");
}
/** What may stand before the verb's name. */
const GLOBAL_OPTIONS = [...EVERYWHERE, ...REPOSITORY];
function optionsOf(verb) {
	switch (verb.access) {
		case "read": return [
			...verb.options,
			JSON_OUTPUT,
			CAMPAIGN,
			...GLOBAL_OPTIONS
		];
		case "write": return [
			...verb.options,
			DRY_RUN,
			CAMPAIGN,
			...GLOBAL_OPTIONS
		];
		case "apart": return [...verb.options, ...GLOBAL_OPTIONS];
		default: return verb.access;
	}
}
const COMMON_EXITS = {
	0: "done",
	2: "something in the spec, the repository or the arguments has to be changed",
	69: "the remote could not be used, or refused",
	70: "an internal error, or a ledger that contradicts itself",
	75: "lost a race: nothing was written, try again"
};
// src/verbs/help-text.ts
const GROUPS = {
	start: "Start",
	see: "See",
	steer: "Steer",
	more: "More"
};
/** What a person types first, where this winnow has it. */
const FIRST = {
	demo: "a whole campaign in a minute, in a directory of its own",
	init: "write a spec for this repository",
	run: "search for something better",
	check: "say what a campaign would cost, and what it could show"
};
const FIRST_SHOWN = 3;
/** Help is derived from the registry: what it says is what is accepted. */
function overviewText(verbs) {
	return [
		...HEAD,
		...groupsText(verbs, [
			"start",
			"see",
			"steer"
		]),
		"",
		...firstText(verbs),
		"",
		"winnow help <command>  its arguments, options, examples and exit codes",
		"winnow help all        every command"
	];
}
function everythingText(verbs) {
	return [
		...HEAD,
		...groupsText(verbs, [
			"start",
			"see",
			"steer",
			"more"
		]),
		"",
		"winnow help <command>  its arguments, options, examples and exit codes"
	];
}
const HEAD = [
	"winnow searches for a better version of a code base.",
	"Every idea is a branch, every gain is proven.",
	"",
	"usage: winnow <command> [arguments] [options]"
];
/** One column for all names, so that every summary begins at the same place. */
function groupsText(verbs, groups) {
	const listed = groups.map((group) => verbs.filter((verb) => verb.group === group));
	const lines = table(listed.flat().map(({ name, summary }) => [`  ${name}`, summary]));
	return groups.flatMap((group, index) => {
		const own = lines.splice(0, listed[index]?.length ?? 0);
		return own.length === 0 ? [] : [
			"",
			GROUPS[group],
			...own
		];
	});
}
function firstText(verbs) {
	const rows = Object.entries(FIRST).filter(([first]) => verbs.some(({ name }) => name === first)).slice(0, FIRST_SHOWN).map(([name, meaning]) => [`  winnow ${name}`, meaning]);
	return ["Begin with", ...table(rows)];
}
function verbText(verb) {
	const options = optionsOf(verb);
	const exits = Object.entries({
		...COMMON_EXITS,
		...verb.exits
	});
	return [
		`${usageText(verb)}`,
		"",
		`${verb.summary}.`,
		...section("arguments", [...verb.arguments.map((argument) => [`  ${argument.name}`, withValues(argument)]), ...verb.command === void 0 ? [] : [[`  -- ${verb.command.name}`, verb.command.summary]]]),
		...section("options", options.map((option) => [`  ${optionText(option)}`, option.summary])),
		...section("examples", verb.examples.map((example) => [`  ${example}`])),
		...section("exit codes", exits.map(([code, meaning]) => [`  ${code}`, meaning]))
	];
}
function section(title, rows) {
	return rows.length === 0 ? [] : [
		"",
		`${title}:`,
		...table(rows)
	];
}
function withValues({ summary, values }) {
	return values === void 0 ? summary : `${summary}: ${values.join(", ")}`;
}
function usageText(verb) {
	const words = verb.arguments.map(({ name, required, many }) => {
		const word = many === true ? `${name}...` : name;
		return required ? `<${word}>` : `[${word}]`;
	});
	const command = verb.command === void 0 ? [] : [`-- <${verb.command.name}>`];
	return [
		"usage: winnow",
		verb.name,
		...words,
		"[options]",
		...command
	].join(" ");
}
function optionText(option) {
	const { name, short, many } = option;
	const value = valueWord(option);
	const long = value === void 0 ? `--${name}` : `--${name} <${value}>`;
	const repeated = many === true ? `${long} ...` : long;
	return short === void 0 ? `    ${repeated}` : `-${short}, ${repeated}`;
}
// src/verbs/unknown-verb.ts
/** What people type elsewhere for what a verb does here. */
const OTHER_WORDS = {
	init: [
		"setup",
		"new",
		"create",
		"install"
	],
	check: [
		"validate",
		"lint",
		"doctor",
		"verify",
		"test"
	],
	compare: [
		"diff",
		"bench",
		"benchmark",
		"versus"
	],
	try: [
		"attempt",
		"eval",
		"evaluate",
		"submit"
	],
	run: [
		"start",
		"go",
		"optimize",
		"optimise",
		"continue",
		"exec",
		"watch"
	],
	demo: ["example", "tutorial"],
	status: [
		"list",
		"ls",
		"st",
		"info",
		"state",
		"results",
		"experiments",
		"summary"
	],
	show: [
		"view",
		"describe",
		"explain",
		"cat",
		"get",
		"inspect"
	],
	log: [
		"logs",
		"history",
		"events"
	],
	approve: [
		"accept",
		"allow",
		"ok"
	],
	pause: [
		"hold",
		"suspend",
		"freeze"
	],
	stop: [
		"end",
		"abort",
		"cancel",
		"kill",
		"quit",
		"finish"
	],
	resume: ["unpause"],
	revert: [
		"undo",
		"rollback",
		"reject"
	],
	amend: [
		"edit",
		"config",
		"change"
	],
	archive: [
		"reset",
		"clean",
		"clear"
	],
	uninstall: [
		"remove",
		"delete",
		"rm",
		"purge"
	],
	propose: [
		"add",
		"offer",
		"suggest"
	],
	note: ["comment", "remember"],
	audit: ["prove", "proof"],
	version: ["about"]
};
/** There is no such command: always with one that was probably meant, or where they are all listed. */
function unknownVerb(name, verbs) {
	const near = meant(name, verbs);
	return new UserError(`there is no command ${JSON.stringify(name)}`, { fix: near === void 0 ? "winnow help lists the commands" : `did you mean winnow ${near}?` });
}
function meant(word, verbs) {
	const names = verbs.map(({ name }) => name);
	const same = names.find((name) => OTHER_WORDS[name]?.includes(word.toLowerCase()));
	const begun = word.length < 2 ? void 0 : names.find((name) => name.startsWith(word.toLowerCase()));
	return same ?? nearest(word, names) ?? begun;
}
// src/verbs/help.ts
const help = {
	name: "help",
	group: "more",
	summary: "list the commands most people need, all of them, or show one in full",
	access: "apart",
	arguments: [{
		name: "command",
		summary: "the command to show, or all",
		required: false
	}],
	options: [],
	examples: [
		"winnow help",
		"winnow help run",
		"winnow help all"
	],
	exits: {},
	async run({ given, terminal, verbs }) {
		const [name] = given.positionals;
		for (const line of linesOf$2(name, verbs)) terminal.out(line);
		return 0;
	}
};
function linesOf$2(name, verbs) {
	if (name === void 0) return overviewText(verbs);
	return name === "all" ? everythingText(verbs) : verbText(verbNamed(verbs, name));
}
function verbNamed(verbs, name) {
	const found = verbs.find((each) => each.name === name);
	if (found !== void 0) return found;
	throw unknownVerb(name, verbs);
}
// src/verbs/completion/completed-by.ts
/** The word for a value is the same everywhere, so it says what can stand there. */
const BY_WORD = {
	campaign: "campaigns",
	spec: "campaigns",
	file: "files",
	payload: "files",
	dir: "directories",
	commit: "revisions",
	base: "revisions",
	head: "revisions"
};
function valueCompletedBy(option) {
	return option.values ?? BY_WORD[valueWord(option) ?? ""] ?? "nothing";
}
function argumentCompletedBy({ name, values }, verb, verbs) {
	if (verb.name === "help") return [...verbs.map((each) => each.name), "all"];
	return values ?? BY_WORD[name] ?? "nothing";
}
/** An option as it is typed: --message and -m. */
function spellings({ name, short }) {
	return short === void 0 ? [`--${name}`] : [`--${name}`, `-${short}`];
}
function valuedOptions(options) {
	return options.filter((option) => valueWord(option) !== void 0);
}
/** Everything that takes a value, with what a verb adds of its own. */
function allValued(verbs) {
	return verbs.flatMap((verb) => valuedOptions(optionsOf(verb)).map((option) => ({
		verb: verb.name,
		option
	})));
}
// src/verbs/completion/bash.ts
/** Names from a repository are offered only if they are plain: a shell would obey the others. */
function bashCompletion(verbs) {
	const ofVerb = verbs.map((verb) => `    ${verb.name}) echo '${optionsOf(verb).flatMap(spellings).join(" ")}' ;;`);
	const globals = valuedOptions(GLOBAL_OPTIONS).flatMap((option) => spellings(option).map((spelling) => `    *' ${spelling}') ${offer$3(valueCompletedBy(option))} ;;`));
	const known = new Set(GLOBAL_OPTIONS.map(({ name }) => name));
	const own = allValued(verbs).filter(({ option }) => !known.has(option.name)).flatMap(({ verb, option }) => spellings(option).map((spelling) => `    '${verb} ${spelling}') ${offer$3(valueCompletedBy(option))} ;;`));
	const places = verbs.flatMap((verb) => verb.arguments.map((argument, place) => `    '${verb.name} ${place}') ${offer$3(argumentCompletedBy(argument, verb, verbs))} ;;`));
	return [
		"# In ~/.bashrc: eval \"$(winnow completion bash)\"",
		...FOUND$2,
		"",
		"_winnow_options() {",
		"  case $1 in",
		...ofVerb,
		`    *) echo '${GLOBAL_OPTIONS.flatMap(spellings).join(" ")}' ;;`,
		"  esac",
		"}",
		"",
		"# Fails where the option takes no value.",
		"_winnow_value() {",
		"  case \"$1 $2\" in",
		...own,
		...globals,
		"    *) return 1 ;;",
		"  esac",
		"}",
		"",
		"_winnow_argument() {",
		"  case \"$1 $2\" in",
		`    ' 0') echo '${verbs.map(({ name }) => name).join(" ")}' ;;`,
		...places,
		"    *) : ;;",
		"  esac",
		"}",
		...MAIN$1,
		""
	].join("\n");
}
function offer$3(by) {
	if (typeof by !== "string") return `echo '${by.join(" ")}'`;
	switch (by) {
		case "campaigns": return "_winnow_campaigns";
		case "revisions": return "_winnow_revisions";
		case "files": return "echo '<files>'";
		case "directories": return "echo '<directories>'";
		case "nothing": return ":";
		default: return by;
	}
}
const FOUND$2 = [
	"_winnow_plain() { LC_ALL=C grep -E \"^[A-Za-z0-9][A-Za-z0-9._/-]*$\"; }",
	"",
	"_winnow_campaigns() {",
	"  local root file",
	"  root=$(git rev-parse --show-toplevel 2>/dev/null) || return 0",
	"  for file in \"$root\"/.winnow/*.yaml; do",
	"    [ -e \"$file\" ] || continue",
	"    file=${file##*/}",
	"    printf '%s\\n' \"${file%.yaml}\"",
	"  done | _winnow_plain",
	"}",
	"",
	"_winnow_revisions() {",
	"  git for-each-ref --format='%(refname:short)' refs/heads refs/tags 2>/dev/null | _winnow_plain",
	"}"
];
/** What stands before the cursor says which word is wanted; `=` is a word of its own in bash. */
const MAIN$1 = String.raw`
_winnow() {
  local current=${"$"}{COMP_WORDS[COMP_CWORD]} verb= option= offered= word at=1 place=0
  COMPREPLY=()
  while [ "$at" -lt "$COMP_CWORD" ]; do
    word=${"$"}{COMP_WORDS[at]}
    at=$((at + 1))
    if [ "$word" = = ]; then continue; fi
    if [ -n "$option" ]; then option=; continue; fi
    case $word in
      --) offered='<files>' ; break ;;
      -*) if _winnow_value "$verb" "$word" >/dev/null; then option=$word; fi ;;
      *) if [ -z "$verb" ]; then verb=$word; else place=$((place + 1)); fi ;;
    esac
  done
  if [ "$current" = = ]; then current=; fi
  if [ -z "$offered" ]; then
    if [ -n "$option" ]; then offered=$(_winnow_value "$verb" "$option")
    else
      case $current in
        -*) offered=$(_winnow_options "$verb") ;;
        *) if [ -z "$verb" ]; then offered=$(_winnow_argument '' 0)
           else offered=$(_winnow_argument "$verb" "$place"); fi ;;
      esac
    fi
  fi
  case $offered in
    '<files>' | '<directories>')
      local kind=-f
      if [ "$offered" = '<directories>' ]; then kind=-d; fi
      if type compopt >/dev/null 2>&1; then compopt -o filenames 2>/dev/null; fi
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$kind" -- "$current") ;;
    *)
      while IFS= read -r word; do
        if [[ -n $word && $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
      done < <(printf '%s\n' "$offered" | tr ' ' '\n') ;;
  esac
}
complete -F _winnow winnow git-winnow`.split("\n");
// src/verbs/completion/fish.ts
function fishCompletion(verbs) {
	const own = verbs.flatMap((verb) => [
		`complete -c winnow -f -n '__winnow_at ""' -a ${verb.name} -d ${quoted$3(verb.summary)}`,
		...verb.arguments.map((argument, place) => `complete -c winnow -n '__winnow_at ${verb.name} ${place}' ${offer$2(argumentCompletedBy(argument, verb, verbs))}`),
		...withoutGlobals(verb).map((option) => optionLine(option, ` -n '__winnow_at ${verb.name}'`))
	]);
	return [
		"# In ~/.config/fish/config.fish: winnow completion fish | source",
		...FOUND$1,
		...atFunction(verbs),
		"",
		"complete -c winnow -f",
		...GLOBAL_OPTIONS.map((option) => optionLine(option, "")),
		...own,
		"complete -c git-winnow -w winnow",
		""
	].join("\n");
}
function withoutGlobals(verb) {
	const known = new Set(GLOBAL_OPTIONS.map(({ name }) => name));
	return optionsOf(verb).filter(({ name }) => !known.has(name));
}
function optionLine(option, when) {
	const { name, short, summary } = option;
	const spelled = short === void 0 ? `-l ${name}` : `-l ${name} -s ${short}`;
	const value = valueWord(option) === void 0 ? "" : ` -r ${offer$2(valueCompletedBy(option))}`;
	return `complete -c winnow${when} ${spelled} -d ${quoted$3(summary)}${value}`;
}
function offer$2(by) {
	if (typeof by !== "string") return `-f -a ${quoted$3(by.join(" "))}`;
	switch (by) {
		case "campaigns": return "-f -a '(__winnow_campaigns)'";
		case "revisions": return "-f -a '(__winnow_revisions)'";
		case "files": return "-F";
		case "directories": return "-f -a '(__fish_complete_directories)'";
		case "nothing": return "-f";
		default: return by;
	}
}
function quoted$3(text) {
	return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
/** Only names that no shell would obey. */
const PLAIN$1 = "string match -r '^[A-Za-z0-9][A-Za-z0-9._/-]*$'";
const FOUND$1 = [
	"function __winnow_campaigns",
	"    set -l root (git rev-parse --show-toplevel 2>/dev/null); or return 0",
	"    for file in $root/.winnow/*.yaml",
	"        string replace -r '.*/(.*)\\.yaml$' '$1' -- $file",
	`    end | ${PLAIN$1}`,
	"end",
	"",
	"function __winnow_revisions",
	`    git for-each-ref --format='%(refname:short)' refs/heads refs/tags 2>/dev/null | ${PLAIN$1}`,
	"end",
	""
];
/** Whether this verb is being typed, and where given, so many arguments of it. */
function atFunction(verbs) {
	const valued = [...GLOBAL_OPTIONS, ...verbs.flatMap(optionsOf)];
	return [
		"function __winnow_at --argument-names wanted wanted_place",
		"    set -l verb ''",
		"    set -l place 0",
		"    set -l value no",
		"    for word in (commandline -opc)[2..-1]",
		"        if test $value = yes",
		"            set value no",
		"            continue",
		"        end",
		"        switch $word",
		`            case ${[...new Set(valuedOptions(valued).flatMap(spellings))].join(" ")}`,
		"                set value yes",
		"            case '-*'",
		"            case '*'",
		"                if test -z \"$verb\"",
		"                    set verb $word",
		"                else",
		"                    set place (math $place + 1)",
		"                end",
		"        end",
		"    end",
		"    test \"$verb\" = \"$wanted\"; and test -z \"$wanted_place\" -o \"$place\" = \"$wanted_place\"",
		"end"
	];
}
// src/verbs/completion/zsh.ts
/** Works from a profile, by eval, and as a file called _winnow on fpath. */
function zshCompletion(verbs) {
	const known = new Set(GLOBAL_OPTIONS.map(({ name }) => name));
	const own = allValued(verbs).filter(({ option }) => !known.has(option.name));
	return [
		"#compdef winnow git-winnow",
		"# In ~/.zshrc, after compinit: eval \"$(winnow completion zsh)\"",
		...FOUND,
		"",
		"_winnow_options() {",
		"  local -a offered",
		"  case $1 in",
		...verbs.map((verb) => `    ${verb.name}) offered=(${described(optionsOf(verb))}) ;;`),
		`    *) offered=(${described(GLOBAL_OPTIONS)}) ;;`,
		"  esac",
		"  _describe -o 'option' offered",
		"}",
		"",
		"# Fails where the option takes no value; with \"ask\" it only says so.",
		"_winnow_value() {",
		"  case \"$1 $2\" in",
		...own.flatMap(({ verb, option }) => valueLines(`'${verb} `, option)),
		...valuedOptions(GLOBAL_OPTIONS).flatMap((option) => valueLines("*' ", option)),
		"    *) return 1 ;;",
		"  esac",
		"}",
		"",
		"_winnow_argument() {",
		"  local -a offered",
		"  case \"$1 $2\" in",
		`    ' 0') offered=(${verbs.map(({ name, summary }) => quoted$2(`${name}:${summary}`)).join(" ")})`,
		"      _describe 'command' offered ;;",
		...verbs.flatMap((verb) => verb.arguments.map((argument, place) => `    '${verb.name} ${place}') ${offer$1(argumentCompletedBy(argument, verb, verbs))} ;;`)),
		"    *) : ;;",
		"  esac",
		"}",
		...MAIN,
		""
	].join("\n");
}
function valueLines(before, option) {
	return spellings(option).map((spelling) => `    ${before}${spelling}') [[ $3 = ask ]] || ${offer$1(valueCompletedBy(option))} ;;`);
}
function described(options) {
	const each = (option) => spellings(option).map((spelling) => quoted$2(`${spelling}:${option.summary}`));
	return options.flatMap(each).join(" ");
}
function quoted$2(text) {
	return `'${text.replaceAll("'", "'\\''")}'`;
}
function offer$1(by) {
	if (typeof by !== "string") return `compadd -- ${by.join(" ")}`;
	switch (by) {
		case "campaigns": return "compadd -- $(_winnow_campaigns)";
		case "revisions": return "compadd -- $(_winnow_revisions)";
		case "files": return "_files";
		case "directories": return "_files -/";
		case "nothing": return ":";
		default: return by;
	}
}
const FOUND = [
	"_winnow_plain() { LC_ALL=C grep -E \"^[A-Za-z0-9][A-Za-z0-9._/-]*$\" }",
	"",
	"_winnow_campaigns() {",
	"  local root file",
	"  root=$(git rev-parse --show-toplevel 2>/dev/null) || return 0",
	"  for file in $root/.winnow/*.yaml(N:t:r); do print -r -- $file; done | _winnow_plain",
	"}",
	"",
	"_winnow_revisions() {",
	"  git for-each-ref --format='%(refname:short)' refs/heads refs/tags 2>/dev/null | _winnow_plain",
	"}"
];
const MAIN = String.raw`
_winnow() {
  local verb= option= word
  integer at place=0
  for ((at = 2; at < CURRENT; at++)); do
    word=$words[at]
    if [[ -n $option ]]; then option=; continue; fi
    case $word in
      --) _files; return ;;
      --*=*) ;;
      -*) if _winnow_value "$verb" "$word" ask; then option=$word; fi ;;
      *) if [[ -z $verb ]]; then verb=$word; else place+=1; fi ;;
    esac
  done
  word=$words[CURRENT]
  if [[ -n $option ]]; then _winnow_value "$verb" "$option"
  elif [[ $word = --*=* ]]; then
    compset -P '*='
    _winnow_value "$verb" "${"$"}{word%%=*}"
  elif [[ $word = -* ]]; then _winnow_options "$verb"
  elif [[ -z $verb ]]; then _winnow_argument '' 0
  else _winnow_argument "$verb" $place
  fi
}
if [[ $funcstack[1] = _winnow ]]; then _winnow "$@"; else compdef _winnow winnow git-winnow; fi`.split("\n");
// src/verbs/completion.ts
const SHELLS = {
	bash: bashCompletion,
	zsh: zshCompletion,
	fish: fishCompletion
};
const completion = {
	name: "completion",
	group: "more",
	summary: "print what makes a shell complete commands, options and campaigns; its first lines say where to put it",
	access: "apart",
	arguments: [{
		name: "shell",
		summary: "which shell",
		required: true,
		values: Object.keys(SHELLS)
	}],
	options: [],
	examples: [
		"winnow completion bash",
		"winnow completion zsh",
		"winnow completion fish"
	],
	exits: {},
	async run({ given, terminal, verbs }) {
		const [shell = ""] = given.positionals;
		const written = SHELLS[shell];
		if (written === void 0) throw new UserError(`winnow has no completion for ${shell}`);
		terminal.out(written(verbs).trimEnd());
		return 0;
	}
};
// src/verbs/decide.ts
const decide = {
	name: "decide",
	group: "more",
	summary: "judge one payload {spec, baseline, candidate} by the stored-score rules and print the decision",
	access: "apart",
	arguments: [{
		name: "payload",
		summary: "a JSON file; standard input by default",
		required: false
	}],
	options: [{
		name: "jsonl",
		summary: "one payload a line, one decision a line"
	}],
	examples: ["winnow decide payload.json", "winnow decide --jsonl < payloads.jsonl"],
	exits: {},
	async run(call) {
		if (call.given.flag("jsonl")) await decideLines(call);
		else call.terminal.json(decided(await wholeInput(call), null), 2);
		return 0;
	}
};
async function decideLines(call) {
	let number = 0;
	for await (const line of linesOf$1(call)) {
		number += 1;
		if (line.trim() !== "") call.terminal.json(decided(line, number));
	}
}
function decided(text, line) {
	try {
		return decideStability(parseDecidePayload(text));
	} catch (error) {
		if (line === null || !(error instanceof UserError)) throw error;
		const { fix, place } = error;
		throw new UserError(`line ${line}: ${error.message}`, {
			place: {
				...place,
				line
			},
			...fix === void 0 ? {} : { fix },
			cause: error
		});
	}
}
async function* linesOf$1(call) {
	const file = fileOf(call);
	if (file === null) yield* call.terminal.lines();
	else yield* (await contentOf$1(call, file)).split("\n");
}
async function wholeInput(call) {
	const file = fileOf(call);
	if (file !== null) return contentOf$1(call, file);
	const lines = [];
	for await (const line of call.terminal.lines()) lines.push(line);
	return lines.join("\n");
}
function fileOf({ given }) {
	const [file = "-"] = given.positionals;
	return file === "-" ? null : file;
}
async function contentOf$1({ around }, file) {
	const text = await readFile(resolve(around.directory, file), "utf8").catch(nullIfMissing);
	if (text !== null) return text;
	throw new UserError(`there is no file ${file}`, {
		place: { file },
		fix: "give a file, or - for standard input"
	});
}
// src/git/new-repository.ts
const FIRST_BRANCH = "main";
/** Nobody's name and nobody's settings: the commit is the same on every machine but for its date. */
const AUTHOR = [
	"-c",
	"user.name=winnow",
	"-c",
	"user.email=winnow@localhost",
	"-c",
	"commit.gpgSign=false"
];
/** Makes a repository of a folder, with one commit of all that is in it. */
async function newRepository(directory, env, message) {
	const git = gitRunner(localIsolation(directory, env));
	await git.run(quietly([
		"init",
		"--template=",
		`--initial-branch=${FIRST_BRANCH}`
	]));
	await git.run(quietly([
		"add",
		"--all",
		"--force",
		"--verbose"
	]));
	await git.run(quietly([
		...AUTHOR,
		"commit",
		"--no-verify",
		"-m",
		message
	]));
}
function quietly(args) {
	return {
		args,
		parse: () => void 0
	};
}
// src/verbs/demo.ts
const demo = {
	name: "demo",
	group: "start",
	summary: "watch a whole campaign in a few seconds, in a repository of its own",
	access: "apart",
	arguments: [{
		name: "directory",
		summary: "where to put it; without one, a temporary directory",
		required: false
	}],
	options: [],
	examples: ["winnow demo", "winnow demo ~/winnow-demo"],
	exits: { 130: "interrupted; what there is by then can be looked at" },
	async run(call) {
		const directory = await placeFor(call);
		const there = callIn(directory, call);
		for (const line of demoBegins({ directory })) call.terminal.out(line);
		await newRepository(directory, there.around.env, "a program that packs messages, and ideas for it");
		const called = calledThere(call);
		const code = await runTelling(there, async (_, { place, workshop }, { campaign, waiting }) => {
			const view = statusView(campaign, await pullNumbers(place, campaign));
			const ends = demoEnds(campaign, {
				directory,
				called,
				leftovers: [directory, workshop.dataDir]
			});
			const told = [
				...runSummary(campaign, waiting),
				"",
				...statusText(campaign, view, []),
				"",
				...ends
			];
			for (const line of told) call.terminal.out(line);
		});
		return code === 14 ? 0 : code;
	}
};
/** From the source as well as from the bundle. */
const FIXTURE = ["../fixtures/demo", "../../fixtures/demo"];
async function placeFor({ given, around }) {
	await requireGit(gitRunner(localIsolation(around.directory, around.env)));
	const directory = await emptyDirectory(given.positionals[0], around);
	const fixture = FIXTURE.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
	if (fixture === void 0) throw new Error("fixtures/demo is not beside the program");
	await cp(fixture, directory, { recursive: true });
	return directory;
}
async function emptyDirectory(given, { directory, env }) {
	const wanted = given === void 0 ? join(env["TMPDIR"] || "/tmp", "winnow-demo-") : resolve(directory, given);
	const found = await (given === void 0 ? mkdtemp(wanted) : mkdir(wanted, { recursive: true }).then(() => wanted)).catch((error) => {
		const why = error instanceof Error ? error.message : String(error);
		throw new UserError(`the demo cannot be put there: ${why}`, {
			fix: ELSEWHERE,
			cause: error
		});
	});
	if ((await readdir(found)).length > 0) throw new UserError(`${found} is not empty`, { fix: ELSEWHERE });
	return realpath(found);
}
const ELSEWHERE = "name a directory that is empty or not there yet, where you may write: winnow demo <directory>";
/** Whoever types demo has agreed to it: nothing is asked on the way. */
const AGREED = {
	positionals: [],
	command: [],
	flag: (name) => name === "yes",
	text: () => void 0,
	texts: () => []
};
/** As if typed there: no remote, and the node that runs winnow runs the demo's programs too. */
function callIn(directory, call) {
	const { runtime } = call.program;
	const { env } = call.around;
	const path = [...isAbsolute(runtime) ? [dirname(runtime)] : [], env["PATH"] ?? ""].join(":");
	const around = {
		...call.around,
		directory,
		remote: null,
		env: {
			...env,
			PATH: path
		}
	};
	return {
		...call,
		given: AGREED,
		around
	};
}
/** Whoever keeps the cache elsewhere wants it there for what comes next, too. */
function calledThere({ program, given }) {
	const cache = given.text("cache-dir");
	return cache === void 0 ? program.called : `${program.called} --cache-dir ${quoted$6(resolve(cache))}`;
}
// src/propose/idea-list.ts
const text$6 = string().regex(/\S/, "text that is not empty");
const entry = union([text$6.transform((hypothesis) => ({ hypothesis })), strictObject({
	hypothesis: text$6,
	category: text$6.optional(),
	priority: _enum([
		"high",
		"medium",
		"low"
	]).optional(),
	required_deps: array(text$6).optional(),
	family: text$6.nullable().optional()
})]);
const MOST$1 = 500;
const list$1 = array(entry).max(MOST$1);
/** Ideas in a file that people keep: a YAML or JSON list, or the items of Markdown lists. */
function readIdeaList(content, file) {
	const found = /\.(?:ya?ml|json)$/i.test(file) ? fromData(content, file) : fromMarkdown(content);
	if (found.length > 0 && found.length <= MOST$1) return found;
	const what = found.length === 0 ? "there is no idea in it" : `it has more than ${MOST$1} ideas`;
	throw new UserError(`${file}: ${what}`, {
		place: { file },
		fix: "write one idea a line: - [category] text"
	});
}
function fromData(content, file) {
	const parsed = list$1.safeParse(dataIn(content, file));
	if (parsed.success) return parsed.data.map((told) => asIdea(told, ""));
	const [issue] = parsed.error.issues;
	const at = issue?.path[0];
	const which = typeof at === "number" ? `entry ${at + 1}` : "the file";
	throw new UserError(`${file}: ${which} is no idea`, {
		place: { file },
		fix: "write a list of texts, or of { hypothesis, category, priority, required_deps, family }"
	});
}
/** JSON is YAML as well. */
function dataIn(content, file) {
	try {
		return (0, import_dist.parse)(content);
	} catch (cause) {
		if (!(cause instanceof import_dist.YAMLParseError)) throw cause;
		const line = cause.linePos?.[0].line;
		const place = line === void 0 ? { file } : {
			file,
			line
		};
		throw new UserError(`${file} cannot be read`, {
			place,
			fix: cause.message.split("\n", 1)[0] ?? "",
			cause
		});
	}
}
/** `- [category] text`; a box to tick is no category, and what is ticked is done. */
const ITEM = /^\s*[-*+]\s+(?:\[([^\]]*)\]\s+)?(\S.*)$/;
function fromMarkdown(content) {
	return content.split("\n").flatMap((line) => {
		const [, box = "", hypothesis = ""] = ITEM.exec(line) ?? [];
		if (hypothesis === "" || /^x$/i.test(box)) return [];
		const category = box.trim();
		return [asIdea({
			hypothesis,
			...category === "" ? {} : { category }
		}, "")];
	});
}
/** The same words are the same idea, however they are written. */
function sameWords(hypothesis) {
	return hypothesis.normalize("NFKC").toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}
// src/verbs/idea-block.ts
const CATEGORY = {
	name: "category",
	value: "word",
	summary: "what kind of idea it is"
};
const FAMILY = {
	name: "family",
	value: "word",
	summary: "ideas of one family are variants of each other"
};
/** The text of a pull request: the fenced block is what becomes of it in the ledger; around it there is room for people. */
function ideaBody({ required_deps, ...told }) {
	const needs = required_deps === void 0 || required_deps.length === 0 ? {} : { required_deps };
	return `${told.hypothesis}\n\n\`\`\`winnow\n${(0, import_dist.stringify)({
		...told,
		...needs
	}, { lineWidth: 0 })}\`\`\`\n`;
}
function priorityGiven(given) {
	if (given === void 0 || given === "high" || given === "medium" || given === "low") return given;
	throw new UserError(`--priority ${given} is not one`, { fix: "give high, medium or low" });
}
// src/verbs/idea-named.ts
/** The idea of the backlog that a person names: idea-003, 003 or 3. */
function ideaNamed({ backlog, name }, given) {
	const wanted = /^\d+$/.test(given) ? ideaName({ number: Number(given) }) : given;
	const found = backlog.find((idea) => ideaName(idea) === wanted);
	if (found !== void 0) return found;
	const near = nearest(wanted, backlog.map(ideaName));
	throw new UserError(`there is no ${given} in the backlog of campaign ${name}`, { fix: near === void 0 ? "winnow idea list shows what there is" : `did you mean ${near}?` });
}
// src/verbs/idea.ts
const idea = {
	name: "idea",
	group: "more",
	summary: "the backlog: ideas in words, for agents that are asked and for people to take",
	access: "write",
	arguments: [{
		name: "action",
		summary: "add, list, drop or import",
		required: true
	}, {
		name: "what",
		summary: "the idea in one sentence; idea-003; or a file with a list of ideas",
		required: false
	}],
	options: [
		CATEGORY,
		{
			name: "priority",
			values: [
				"high",
				"medium",
				"low"
			],
			summary: "how soon to try it (medium)"
		},
		{
			name: "needs",
			value: "package",
			many: true,
			summary: "a package that it would add"
		},
		FAMILY,
		{
			name: "message",
			short: "m",
			value: "reason",
			summary: "why it is dropped, for the record"
		},
		{
			name: "json",
			summary: "print JSON"
		}
	],
	examples: [
		"winnow idea add \"cache the parsed header\" --category caching --priority high",
		"winnow idea list --json",
		"winnow idea drop idea-003 -m \"the format changes next week\"",
		"winnow idea import ideas.md"
	],
	exits: {},
	run(call) {
		const act = actionNamed(call.given.positionals[0] ?? "");
		return atCampaign(call, {
			access: "write",
			startedOnly: true
		}, async (scene) => {
			const { campaign } = (await requireCampaign(scene.place)).loaded;
			await act(call, scene, campaign);
			return 0;
		});
	}
};
const ACTIONS = /* @__PURE__ */ new Map([
	["add", add],
	["list", list],
	["drop", drop],
	["import", importList]
]);
function actionNamed(given) {
	const found = ACTIONS.get(given);
	if (found !== void 0) return found;
	const near = nearest(given, [...ACTIONS.keys()]);
	throw new UserError(`winnow idea does not know ${JSON.stringify(given)}`, { fix: near === void 0 ? "winnow idea add, list, drop or import" : `did you mean winnow idea ${near}?` });
}
async function add(call, scene, campaign) {
	const { given } = call;
	const told = asIdea({
		hypothesis: required$1(given.positionals[1], "winnow idea add \"what might help\""),
		category: given.text("category"),
		priority: priorityGiven(given.text("priority")),
		required_deps: [...given.texts("needs")],
		family: given.text("family")
	}, "");
	const twin = twinOf(campaign.backlog, told);
	if (twin !== null) throw new UserError(`that is ${twin} already`, { fix: `winnow idea list shows what became of it` });
	const names = await write(scene, [told]);
	answer(call, scene, { added: names }, `${names[0] ?? ""} added: ${told.hypothesis}`);
}
async function list({ given, terminal }, { rehearsal }, campaign) {
	if (rehearsal !== null) rehearsal.answered = true;
	if (given.flag("json")) return terminal.json(ideasInOrder(campaign).map(ideaView));
	for (const line of backlogText(campaign)) terminal.out(line);
}
/** It stays in the list, with why it was dropped. */
async function drop(call, scene, campaign) {
	const { given } = call;
	const found = ideaNamed(campaign, required$1(given.positionals[1], "winnow idea drop idea-003"));
	const name = ideaName(found);
	if (found.status !== "open") throw new UserError(`${name} is ${found.status} already`);
	const learnings = given.text("message") ?? `dropped by ${scene.place.by.actor}`;
	const { experiment } = found;
	const draft = {
		kind: "hypothesis-updated",
		hypothesis: found.id,
		status: "dropped"
	};
	await record(scene.place, [{
		...draft,
		experiment,
		outcome: null,
		learnings
	}]);
	answer(call, scene, { dropped: [name] }, `${name} is dropped: ${found.hypothesis}`);
}
function answer({ given, terminal }, { rehearsal }, json, sentence) {
	if (rehearsal !== null) return;
	if (given.flag("json")) terminal.json(json);
	else terminal.out(sentence);
}
async function importList(call, scene, campaign) {
	const { given, terminal, around } = call;
	const file = required$1(given.positionals[1], "winnow idea import ideas.md");
	const fresh = [];
	const known = [...campaign.backlog];
	for (const told of readIdeaList(await textOf(resolve(around.directory, file), file), file)) {
		const twin = twinOf(known, told) ?? twinIn(fresh, told);
		if (twin === null) fresh.push(told);
		else terminal.err(`note: left out, it is ${twin} already: ${told.hypothesis}`);
	}
	const names = await write(scene, fresh);
	const which = names.length === 0 ? "" : `: ${span(names)}`;
	answer(call, scene, { added: names }, `${plural(names.length, "idea")} added${which}.`);
}
function span(names) {
	const [first, last] = [names[0] ?? "", names.at(-1) ?? ""];
	return first === last ? first : `${first} to ${last}`;
}
async function textOf(path, file) {
	try {
		return await readFile(path, "utf8");
	} catch (cause) {
		throw new UserError(`${file} cannot be read`, {
			place: { file },
			fix: "name a file with ideas",
			cause
		});
	}
}
/** Answers how they are called from now on. */
async function write({ place, rehearsal }, ideas) {
	const source = place.by.actor;
	const events = await record(place, ideas.map((told) => ({
		kind: "hypothesis-added",
		...told,
		source
	})));
	if (events.length === 0 || rehearsal !== null) return [];
	const { backlog } = (await requireCampaign(place)).loaded.campaign;
	const ids = new Set(events.map(({ id }) => id));
	return backlog.filter(({ id }) => ids.has(id)).map(ideaName);
}
function twinOf(backlog, { hypothesis }) {
	const twin = backlog.find((each) => sameWords(each.hypothesis) === sameWords(hypothesis));
	return twin === void 0 ? null : ideaName(twin);
}
function twinIn(fresh, { hypothesis }) {
	return fresh.some((each) => sameWords(each.hypothesis) === sameWords(hypothesis)) ? "in this file" : null;
}
function required$1(given, example) {
	if (given !== void 0 && given.trim() !== "") return given;
	throw new UserError("winnow idea needs to know which", { fix: example });
}
// src/setup/gates.ts
/** What must hold before a number counts; without tests only that the harness works, which a metric gate says as well. */
function gatesFor({ test }, harness) {
	if (test !== null) return {
		gates: [{
			name: "tests",
			command: test.command
		}],
		notes: []
	};
	return {
		gates: harness.gates.length > 0 ? [] : [{
			name: "runs",
			command: harness.command
		}],
		notes: ["no tests were found, so nothing shows that the answers stay right: add gates: [{ name: tests, command: … }] before you trust a gain"]
	};
}
// src/setup/harness/words.ts
/** The lines around a workload, the same in every language but for the sign of a comment. */
function workloadComment(sign, example, entry) {
	return [
		"==== PUT YOUR WORKLOAD HERE ====",
		"Call what should become better, with input as large as in real use, and return what it answers:",
		`  ${example}`,
		`Until then this measures ${calledText(entry)}.`
	].map((line) => `${sign} ${line}`).join("\n");
}
function headComment(sign, command) {
	return `${sign} Measures one call and prints it as JSON. By hand: ${command}`;
}
/** What a harness calls before anybody has said what to measure. */
function calledText(entry) {
	if (entry === null) return "a stand-in: nothing of the project was found that can be called without arguments";
	switch (entry.kind) {
		case "module": return `how long it takes to load ${entry.path}`;
		case "function": return `${entry.name}() of ${entry.module}`;
		case "program": return `the program, started as: ${entry.command}`;
		default: return entry;
	}
}
// src/setup/harness/go.ts
function goHarness({ name, entry }) {
	const place = `bench/${name}`;
	const path = `${place}/main.go`;
	const own = `go build -o ${place}/run ./${place}`;
	const subject = entry?.kind === "program" ? ` && go build -o ${place}/subject ${entry.command}` : "";
	return {
		files: [{
			path,
			text: text$5(`go run ./${place}`, place, entry)
		}],
		edit: path,
		command: `./${place}/run`,
		build: own + subject,
		calls: calledText(entry)
	};
}
function text$5(command, place, entry) {
	const imports = [
		"\"encoding/json\"",
		"\"fmt\"",
		"\"os\"",
		"\"sort\"",
		"\"time\"",
		...importsOf(entry)
	].toSorted();
	return `${headComment("//", command)}
package main

import (
${imports.map((each) => `\t${each}`).join("\n")}
)

${workloadComment("//", "return mypackage.Parse(input)", entry)}
func workload() any {
${bodyOf$3(place, entry)}
}

// ================================

var answer any

// Milliseconds of that many calls.
func took(calls int) float64 {
	start := time.Now()
	for call := 0; call < calls; call++ {
		answer = workload()
	}
	return float64(time.Since(start).Nanoseconds()) / 1e6
}

func main() {
	calls := 1
	for took(calls) < 5 {
		calls *= 2
	}
	var times []float64
	for round := 0; round < 15; round++ {
		times = append(times, took(calls)/float64(calls))
	}
	sort.Float64s(times)
	result := map[string]any{"milliseconds": times[7], "output_bytes": len(fmt.Sprint(answer))}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
`;
}
function importsOf(entry) {
	if (entry?.kind === "function") return [`subject "${entry.module}"`];
	return entry?.kind === "program" ? ["\"os/exec\""] : [];
}
function bodyOf$3(place, entry) {
	if (entry?.kind === "function") return `\treturn subject.${entry.name}()`;
	if (entry?.kind === "program") return `\tout, _ := exec.Command("./${place}/subject", "--help").CombinedOutput()\n\treturn string(out)`;
	return [
		"	numbers := make([]int, 10000)",
		"	for i := range numbers {",
		"		numbers[i] = i * 7919 % 10007",
		"	}",
		"	sort.Ints(numbers)",
		"	return numbers"
	].join("\n");
}
// src/setup/harness/java.ts
function javaHarness({ name, entry, interpreter }) {
	const type = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter) => letter.toUpperCase());
	const className = /^\d/.test(type) ? `Bench${type}` : type;
	const path = `bench/${className}.java`;
	const command = `${interpreter} ${path}`;
	return {
		files: [{
			path,
			text: text$4(command, className, entry)
		}],
		edit: path,
		command,
		build: null,
		calls: calledText(entry)
	};
}
function text$4(command, className, entry) {
	return `${headComment("//", command)}
import java.util.Arrays;

public class ${className} {
${indented(workloadComment("//", "return MyParser.parse(input);", entry))}
    static Object workload() throws Exception {
${bodyOf$2(entry)}
    }
    // ================================

    static Object answer;

    /** Milliseconds of that many calls. */
    static double took(int calls) throws Exception {
        long start = System.nanoTime();
        for (int call = 0; call < calls; call++) answer = workload();
        return (System.nanoTime() - start) / 1e6;
    }

    public static void main(String[] args) throws Exception {
        int calls = 1;
        while (took(calls) < 5) calls *= 2;
        double[] times = new double[15];
        for (int round = 0; round < times.length; round++) times[round] = took(calls) / calls;
        Arrays.sort(times);
        int output = String.valueOf(answer).length();
        System.out.println("{\\"milliseconds\\": " + times[7] + ", \\"output_bytes\\": " + output + "}");
    }
}
`;
}
function indented(text) {
	return text.replaceAll(/^/gm, "    ");
}
function bodyOf$2(entry) {
	if (entry?.kind === "function") return `        return ${entry.module}.${entry.name}();`;
	if (entry?.kind === "program") return [`        Process process = new ProcessBuilder(${[...entry.command.split(" "), "--help"].map((word) => `"${word}"`).join(", ")}).redirectErrorStream(true).start();`, "        return new String(process.getInputStream().readAllBytes());"].join("\n");
	return [
		"        int[] numbers = new int[10_000];",
		"        for (int i = 0; i < numbers.length; i++) numbers[i] = i * 7919 % 10_007;",
		"        Arrays.sort(numbers);",
		"        return Arrays.toString(numbers);"
	].join("\n");
}
// src/setup/harness/node.ts
function nodeHarness({ name, entry }) {
	const path = `bench/${name}.mjs`;
	const command = `node ${path}`;
	return {
		files: [{
			path,
			text: text$3(command, entry)
		}],
		edit: path,
		command,
		build: null,
		calls: calledText(entry)
	};
}
function text$3(command, entry) {
	return `${headComment("//", command)}
${importLines(entry)}
${workloadComment("//", exampleOf(entry), entry)}
async function workload(round) {
${bodyOf$1(entry)}
}
// ================================

let answer
let made = 0
/** Milliseconds of that many calls. */
async function took(calls) {
  const start = performance.now()
  for (let call = 0; call < calls; call += 1) answer = await workload((made += 1))
  return performance.now() - start
}

let calls = 1
while ((await took(calls)) < 5) calls *= 2
const times = []
for (let round = 0; round < 15; round += 1) times.push((await took(calls)) / calls)
times.sort((a, b) => a - b)
const output = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '')
console.log(JSON.stringify({ milliseconds: times[7], output_bytes: output.length }))
`;
}
function importLines(entry) {
	if (entry?.kind === "program") return "import { spawnSync } from 'node:child_process'\n";
	if (entry?.kind !== "module") return "";
	return `const ENTRY = new URL('../${entry.path}', import.meta.url)\n`;
}
function exampleOf(entry) {
	return entry?.kind === "module" ? "return (await import(ENTRY)).parse(input)" : "return parse(input)";
}
function bodyOf$1(entry) {
	if (entry?.kind === "module") return "  return Object.keys(await import(`${ENTRY}?round=${round}`)).concat('loaded')";
	if (entry?.kind === "program") {
		const [, ...args] = entry.command.split(" ");
		return `  const { stdout, stderr, error } = spawnSync(process.execPath, [${args.map((each) => `'${each}'`).join(", ")}], { encoding: 'utf8', timeout: 10_000 })
  if (error) throw error
  return stdout + stderr`;
	}
	return "  return Array.from({ length: 10_000 }, (_, index) => (index * 7919 + round) % 10_007).sort((a, b) => a - b).join(' ')";
}
// src/setup/harness/python.ts
function pythonHarness({ name, entry, interpreter }) {
	const path = `bench/${name}.py`;
	const command = `${interpreter} ${path}`;
	return {
		files: [{
			path,
			text: text$2(command, entry)
		}],
		edit: path,
		command,
		build: null,
		calls: calledText(entry)
	};
}
function text$2(command, entry) {
	const module = entry?.kind === "module" ? entry.path : null;
	return `${headComment("#", command)}
import json
import time
${module === null ? "" : `import importlib\n\nimport ${module} as subject\n`}

${workloadComment("#", module === null ? "return parse(text)" : "return subject.parse(text)", entry)}
def workload():
${module === null ? "    return \" \".join(str(n) for n in sorted((i * 7919) % 10007 for i in range(10000)))" : "    return repr(dir(importlib.reload(subject)))"}
# ================================


answer = None


def took(calls):
    """Seconds of that many calls."""
    global answer
    start = time.perf_counter()
    for _ in range(calls):
        answer = workload()
    return time.perf_counter() - start


calls = 1
while took(calls) < 0.005:
    calls *= 2
times = sorted(took(calls) / calls for _ in range(15))
print(json.dumps({"milliseconds": times[7] * 1000, "output_bytes": len(str(answer))}))
`;
}
// src/setup/harness/ruby.ts
function rubyHarness({ name, entry, interpreter }) {
	const path = `bench/${name}.rb`;
	const command = `${interpreter} ${path}`;
	return {
		files: [{
			path,
			text: text$1(command, entry)
		}],
		edit: path,
		command,
		build: null,
		calls: calledText(entry)
	};
}
function text$1(command, entry) {
	const module = entry?.kind === "module" ? entry.path : null;
	return `${headComment("#", command)}
require 'json'
${module === null ? "" : `require '${module}'\n`}
${workloadComment("#", "MyParser.parse(text)", entry)}
def workload
${module === null ? "  Array.new(10_000) { |n| n * 7919 % 10_007 }.sort.join(\" \")" : `  load '${module}.rb'\n  'loaded'`}
end
# ================================

$VERBOSE = nil
$answer = nil

# Milliseconds of that many calls.
def took(calls)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  calls.times { $answer = workload }
  (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1000
end

calls = 1
calls *= 2 while took(calls) < 5
times = Array.new(15) { took(calls) / calls }
puts JSON.generate({ milliseconds: times.sort[7], output_bytes: $answer.to_s.bytesize })
`;
}
// src/setup/harness/rust.ts
/** A crate of its own, outside the project's workspace: nothing that exists has to be changed for it. */
function rustHarness({ name, entry }) {
	const place = `bench/${name}`;
	const manifest = `${place}/Cargo.toml`;
	const path = `${place}/src/main.rs`;
	const crate = `bench-${name}`;
	return {
		files: [{
			path: manifest,
			text: manifestText(crate, entry)
		}, {
			path,
			text: text(`cargo run --release --manifest-path ${manifest}`, entry)
		}],
		edit: path,
		command: `./${place}/target/release/${crate}`,
		build: `cargo build --release --quiet --manifest-path ${manifest} --target-dir ${place}/target`,
		calls: calledText(entry),
		buildsProject: entry !== null && entry.kind !== "program"
	};
}
function manifestText(crate, entry) {
	const library = entry === null || entry.kind === "program" ? null : nameOf$1(entry);
	return `[package]
name = "${crate}"
version = "0.0.0"
edition = "2021"
publish = false
${library === null ? "" : `\n[dependencies]\n${library} = { path = "../.." }\n`}
[workspace]
`;
}
function nameOf$1(entry) {
	return entry.kind === "module" ? entry.path : entry.module;
}
function text(command, entry) {
	const library = entry === null || entry.kind === "program" ? "my_crate" : nameOf$1(entry).replaceAll("-", "_");
	return `${headComment("//", command)}
use std::hint::black_box;
use std::time::Instant;

${workloadComment("//", `${library}::parse(&input)`, entry)}
fn workload() -> usize {
${bodyOf(entry, library)}
}
// ================================

/// Milliseconds of that many calls.
fn took(calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(workload());
    }
    start.elapsed().as_secs_f64() * 1000.0
}

fn main() {
    let mut calls = 1;
    while took(calls) < 5.0 {
        calls *= 2;
    }
    let mut times: Vec<f64> = (0..15).map(|_| took(calls) / f64::from(calls)).collect();
    times.sort_by(f64::total_cmp);
    println!("{{\\"milliseconds\\": {}, \\"output_bytes\\": {}}}", times[7], workload());
}
`;
}
/** The size of the answer is returned, so that an answer that became empty shows. */
function bodyOf(entry, library) {
	if (entry?.kind === "function") return `    std::mem::size_of_val(&black_box(${library}::${entry.name}()))`;
	if (entry?.kind === "program") return [`    let answer = std::process::Command::new("${entry.command}").arg("--help").output().unwrap();`, "    answer.stdout.len() + answer.stderr.len()"].join("\n");
	return [
		"    let mut numbers: Vec<u32> = (0..10_000).map(|n| n * 7919 % 10_007).collect();",
		"    numbers.sort();",
		"    black_box(numbers).len()"
	].join("\n");
}
// src/setup/harness/shell.ts
function shellHarness({ name, entry }) {
	const path = `bench/${name}.sh`;
	const command = `sh ${path}`;
	const program = entry?.kind === "program" ? entry.command : null;
	return {
		files: [{
			path,
			text: `${headComment("#", command)}

${workloadComment("#", "sh bin/parse.sh < bench/input.txt", entry)}
workload() {
  ${program === null ? "seq 1 20000 | sort -r" : `${program} 2>&1`}
}
# ================================

# Nanoseconds are GNU date's; where there is none, whole seconds are all that a shell can tell.
now() { case "$(date +%N)" in *N*) echo "$(date +%s)000000000" ;; *) date +%s%N ;; esac; }

start=$(now)
for round in 1 2 3 4 5 6 7 8 9 10; do
  answer=$(workload) || true
done
end=$(now)
bytes=$(printf %s "$answer" | wc -c)
awk -v took="$((end - start))" -v bytes="$((bytes))" \\
  'BEGIN { printf "{\\"milliseconds\\": %.6f, \\"output_bytes\\": %d}\\n", took / 10000000, bytes }'
`
		}],
		edit: path,
		command,
		build: null,
		calls: calledText(entry)
	};
}
// src/setup/harness/skeleton.ts
/** Every harness prints these two. */
const SKELETON_METRIC = "milliseconds";
const SKELETON_OUTPUT = "output_bytes";
function skeleton(language, wanted) {
	switch (language) {
		case "node": return nodeHarness(wanted);
		case "python": return pythonHarness(wanted);
		case "go": return goHarness(wanted);
		case "rust": return rustHarness(wanted);
		case "java": return javaHarness(wanted);
		case "ruby": return rubyHarness(wanted);
		case "shell": return shellHarness(wanted);
		default: return language;
	}
}
// src/setup/harness/size.ts
/** Bytes of what the project delivers: they repeat exactly, so that one run of each side decides. */
function sizeHarness({ language, entry, mutable }, name, committed) {
	const path = `bench/${name}.sh`;
	const command = `sh ${path}`;
	const built = entry?.kind === "module" && language === "node" ? entry.path : null;
	const places = (PLACES[language] ?? []).filter((place) => !committed.some((path) => path.startsWith(`${place}/`)));
	const fallback = built ?? mutable.filter((place) => !place.includes("*")).join(" ");
	return {
		file: {
			path,
			text: `${headComment("#", command)}
# ==== SAY WHAT IS MEASURED ====
# The files whose size counts, for example: set -- dist/app.min.js
set -- ${fallback === "" ? "." : fallback}
${chosenPlace(places)}# ==============================

echo "{\\"bytes\\": $(find "$@" -type f ! -path '*/.*' -exec cat {} + | wc -c | tr -d ' ')}"
`
		},
		command,
		measures: `the bytes of ${[...places, fallback].filter(Boolean).join(", or else ")}`
	};
}
function chosenPlace(places) {
	if (places.length === 0) return "";
	return `for built in ${places.join(" ")}; do
  if [ -e "$built" ]; then set -- "$built"; break; fi
done
`;
}
const PLACES = {
	node: ["dist", "build"],
	rust: ["target/release/deps"],
	java: ["target/classes", "build/classes"]
};
// src/setup/spec-text.ts
/** Works once the package is published under its name; an editor that is offline only misses completion. */
const SCHEMA_URL = "https://unpkg.com/git-winnow/schema/spec.schema.json";
const REFERENCE_URL = "https://unpkg.com/git-winnow/docs/spec.md";
/** One line for each section, as short as a spec can be; what is not said has its default. */
function specText(values) {
	const lines = Object.entries(values).flatMap(([key, value]) => value === void 0 ? [] : [`${key}: ${flow(value)}`]);
	return [
		`# yaml-language-server: $schema=${SCHEMA_URL}`,
		`# Every key and its default: ${REFERENCE_URL}`,
		...lines,
		""
	].join("\n");
}
function flow(value) {
	if (typeof value !== "object") return scalar(value);
	if (isList(value)) return `[${value.map(flow).join(", ")}]`;
	return `{ ${Object.entries(value).flatMap(([key, inner]) => inner === void 0 ? [] : [`${key}: ${flow(inner)}`]).join(", ")} }`;
}
function isList(value) {
	return Array.isArray(value);
}
/** Quoted as the inside of a list needs it, which is enough everywhere. */
function scalar(value) {
	return (0, import_dist.stringify)([value], {
		collectionStyle: "flow",
		flowCollectionPadding: false,
		lineWidth: 0
	}).trim().slice(1, -1);
}
// src/setup/draft.ts
function draft(wanted) {
	const { yard, detected, name, goal, prefix } = wanted;
	const { findings } = detected;
	const harness = harnessFor(wanted);
	const { gates, notes } = gatesFor(findings, harness);
	const inside = (path) => yard.directory === "" ? path : `${yard.directory}/${path}`;
	const specPath = `.winnow/${name}.yaml`;
	const walls = wallsAround(findings, harness.files).map(inside);
	const setup = harness.setup.join(" && ");
	const files = [{
		path: specPath,
		text: specText({
			winnow: 1,
			description: goal?.words,
			metric: metricOf(goal, harness),
			measurement: {
				working_directory: yard.directory === "" ? void 0 : yard.directory,
				setup: setup === "" ? void 0 : setup,
				command: harness.command,
				output: harness.output === "json" ? void 0 : harness.output
			},
			gates: gates.length === 0 ? void 0 : gates.map(({ name: called, command }) => ({
				name: called,
				command
			})),
			scope: {
				mutable: findings.mutable.map(inside),
				immutable: walls.length === 0 ? void 0 : walls
			},
			branches: prefix === "optimize" ? void 0 : { prefix }
		})
	}, ...harness.files.map(({ path, text }) => ({
		path: inside(path),
		text
	}))];
	const edit = harness.edit === null ? null : inside(harness.edit);
	const commands = [
		setup,
		harness.command,
		...gates.map(({ command }) => command)
	];
	return {
		files,
		specPath,
		edit,
		calls: harness.calls,
		commands,
		notes: [...findings.notes, ...notes]
	};
}
function harnessFor({ yard, detected: { findings }, name, goal }) {
	const { bench, language, entry, interpreter } = findings;
	const own = findings.setup === null ? [] : [findings.setup.command];
	const plain = {
		setup: own,
		files: [],
		edit: null,
		calls: null,
		gates: []
	};
	if (goal?.aim?.kind === "hard" && goal.aim.metric === "bytes" && bench?.metric?.name !== "bytes") {
		const { file, command, measures } = sizeHarness(findings, name, yard.files.paths);
		const gates = [{
			name: "bytes",
			check: "> 0"
		}];
		return {
			...plain,
			command,
			output: "json",
			metric: null,
			files: [file],
			edit: file.path,
			calls: measures,
			gates
		};
	}
	if (bench !== null) return {
		...plain,
		...bench
	};
	const made = skeleton(language, {
		name,
		entry,
		interpreter
	});
	const { files, edit, command, build, calls } = made;
	return {
		command,
		setup: [...made.buildsProject === true ? [] : own, ...build === null ? [] : [build]],
		output: "json",
		metric: {
			name: SKELETON_METRIC,
			direction: "minimize"
		},
		files,
		edit,
		calls,
		gates: [{
			name: SKELETON_OUTPUT,
			check: "> 0"
		}]
	};
}
/** A new harness that lies among what may change would not be one. */
function wallsAround({ mutable, immutable }, files) {
	const matches = mutable.map(compilePathspec);
	return files.some(({ path }) => matches.some((match) => match(path))) && !immutable.includes("bench/") ? [...immutable, "bench/"] : immutable;
}
/** The goal's metric before the harness's: winnow's own need nothing printed. */
function metricOf(goal, harness) {
	const gates = harness.gates.length === 0 ? void 0 : harness.gates;
	if (goal?.aim?.kind === "judge") return judged(goal);
	const target = goal?.target?.value;
	const primary = primaryOf(goal, harness.metric);
	if (primary === null) return target === void 0 ? gates && { degenerate_gates: gates } : { primary: { target } };
	return {
		primary: {
			...primary,
			target
		},
		degenerate_gates: gates
	};
}
function primaryOf(goal, printed) {
	if (goal?.aim?.kind !== "hard") return printed;
	const { metric: name, direction } = goal.aim;
	return name === "wall_seconds" ? printed : {
		name,
		direction
	};
}
/** Drafted for a person to look at: a run refuses it, because judged metrics are not built yet. */
function judged({ words }) {
	return {
		primary: {
			type: "judge",
			name: "quality",
			direction: "maximize"
		},
		judge: {
			rubric: `Score 1 to 5 how far this output reaches the goal: ${words}. 5: a person would change nothing; 1: worse than before.`,
			scoring: { primary: "quality" }
		}
	};
}
// src/setup/goal-target.ts
const BOUND = /\b(?:under|below|less than|at most|within|over|above|more than|at least)\s+(\d+(?:\.\d+)?)\s?([a-z%]*)/;
/** In the metric's own unit. */
const UNITS = {
	wall_seconds: {
		s: 1,
		sec: 1,
		second: 1,
		seconds: 1,
		ms: .001,
		milliseconds: .001,
		minutes: 60,
		min: 60
	},
	cpu_seconds: {
		s: 1,
		sec: 1,
		second: 1,
		seconds: 1,
		ms: .001,
		milliseconds: .001,
		minutes: 60,
		min: 60
	},
	max_rss_mb: {
		mb: 1,
		mib: 1,
		kb: .001,
		gb: 1e3,
		gib: 1024
	},
	bytes: {
		b: 1,
		bytes: 1,
		kb: 1e3,
		kib: 1024,
		mb: 1e6,
		mib: 1048576
	},
	coverage: {
		"%": 1,
		percent: 1,
		"": 1
	},
	accuracy: {
		"%": 1,
		percent: 1,
		"": 1
	},
	throughput: { "": 1 }
};
/** "under 200 ms": good enough, in numbers. Null where there is none, or its unit is of something else. */
function targetIn(text, aim) {
	const [words, value, unit = ""] = BOUND.exec(text) ?? [];
	if (words === void 0 || aim.kind !== "hard") return null;
	const factor = UNITS[aim.metric]?.[unit];
	return factor === void 0 ? null : {
		value: Number((Number(value) * factor).toPrecision(12)),
		words
	};
}
// src/setup/goal.ts
const RULES = [
	{
		name: "memory",
		aim: hard("max_rss_mb"),
		pattern: /\b(?:memory|ram|rss|heap|leaks?)\b/
	},
	{
		name: "processor time",
		aim: hard("cpu_seconds"),
		pattern: /\b(?:cpu|processor|energy|compute)\b/
	},
	{
		name: "size",
		aim: {
			kind: "hard",
			metric: "bytes",
			direction: "minimize"
		},
		pattern: /\b(?:size|smaller|bundle|bytes|kilobytes|footprint|lighter|slimmer|shrink)\b/
	},
	{
		name: "test coverage",
		aim: {
			kind: "hard",
			metric: "coverage",
			direction: "maximize"
		},
		pattern: /\bcoverage\b/
	},
	{
		name: "accuracy",
		aim: {
			kind: "hard",
			metric: "accuracy",
			direction: "maximize"
		},
		pattern: /\b(?:accura(?:cy|te)|precision|recall|f1|error rate|correct answers)\b/
	},
	{
		name: "throughput",
		aim: {
			kind: "hard",
			metric: "throughput",
			direction: "maximize"
		},
		pattern: /\b(?:throughput|requests? per|per second|rps|qps|ops)\b/
	},
	{
		name: "time",
		aim: hard("wall_seconds"),
		pattern: /\b(?:fast(?:er|est)?|speed(?:\s?up)?|slow(?:er|ness)?|quick(?:er|ly)?|latency|time|startup|performance|perf)\b/
	},
	{
		name: "quality as people judge it",
		aim: { kind: "judge" },
		pattern: /\b(?:friendl(?:y|ier)|clear(?:er)?|readab(?:le|ility)|nicer?|helpful|understandable|wording|tone|beautiful|simpler|messages?|documentation|explain\w*|better looking|polite)\b/
	}
];
function hard(metric) {
	return {
		kind: "hard",
		metric,
		direction: "minimize"
	};
}
/** Words only, no model: what is named first is the aim, what is not in the table is said not to be understood. */
function readGoal(words) {
	const text = words.toLowerCase();
	const matched = RULES.filter(({ pattern }) => pattern.test(text)).toSorted((a, b) => text.search(a.pattern) - text.search(b.pattern));
	const [first, ...rest] = matched;
	const aim = first?.aim ?? null;
	const target = aim === null ? null : targetIn(text, aim);
	const relative = /\b(?:twice|half|double|\d+(?:\.\d+)?\s?(?:%|percent|times|x))(?!\w)/.exec(text)?.[0];
	return {
		words,
		aim,
		target,
		subjects: subjectsOf(text, matched),
		also: rest.map(({ name }) => name),
		notUnderstood: [...relative === void 0 ? [] : [`"${relative}": a target is a number of the metric, not a share`], ...aim === null ? ["what is to be measured"] : []]
	};
}
function aimText(aim) {
	if (aim.kind === "judge") return "quality as people judge it (a judged metric)";
	return `${RULES.find((rule) => rule.aim.kind === "hard" && rule.aim.metric === aim.metric)?.name ?? aim.metric}: ${aim.direction} ${aim.metric}`;
}
const COMMON = new Set("the a an and or of for to in on with our my make makes it its be is are all less more use uses using should faster better than under below over above at least most get this that code when please reduce improve increase lower raise project".split(" "));
function subjectsOf(text, matched) {
	return (text.match(/[a-z][\w.-]{2,}/g) ?? []).filter((word) => !COMMON.has(word) && !matched.some(({ pattern }) => pattern.test(word)));
}
/** Sources whose names have one of the words, `parser` also being found in `parse.js`. */
function filesNamed(paths, subjects) {
	const stems = subjects.map(stem).filter((each) => each.length >= 3);
	return paths.filter((path) => path.toLowerCase().split(/[/._-]/).some((part) => stems.includes(stem(part))));
}
function stem(word) {
	return word.replace(/(?:ing|ers?|ors?|s|e)$/, "");
}
// src/setup/name.ts
/** A spec is called after what it improves. */
function specName(goal, packageName) {
	const what = aimName(goal);
	const kebab = (packageName ?? "").toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-+|-+$/g, "");
	return kebab === "" ? what : `${kebab}-${what}`;
}
function aimName(goal) {
	const aim = goal?.aim ?? null;
	if (aim === null) return "speed";
	if (aim.kind === "judge") return "quality";
	switch (aim.metric) {
		case "wall_seconds": return "speed";
		case "cpu_seconds": return "cpu";
		case "max_rss_mb": return "memory";
		case "bytes": return "size";
		case "coverage":
		case "accuracy":
		case "throughput": return aim.metric;
		default: return aim;
	}
}
// src/setup/packages.ts
const MANIFEST = /^(?:(.*)\/)?(?:package\.json|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile)$/;
/** Every directory with a manifest of its own, the top first. */
function packagesIn(repository) {
	const directories = repository.paths.flatMap((path) => {
		const match = isForeign(path) ? null : MANIFEST.exec(path);
		return match === null ? [] : [match[1] ?? ""];
	});
	return [...new Set(directories)].toSorted((a, b) => a < b ? -1 : 1).map((directory) => ({
		directory,
		name: nameOf(repository, directory)
	}));
}
function nameOf(repository, directory) {
	const at = (file) => directory === "" ? file : `${directory}/${file}`;
	const pyproject = tomlOf(repository, at("pyproject.toml"));
	return textAt(jsonOf(repository, at("package.json")), "name") ?? textAt(pyproject, "project", "name") ?? textAt(tomlOf(repository, at("Cargo.toml")), "package", "name") ?? /^module\s+(\S+)/m.exec(repository.text(at("go.mod")) ?? "")?.[1] ?? (directory === "" ? "." : directory.slice(directory.lastIndexOf("/") + 1));
}
/** The package that is meant; the only one, or the top, where nothing was said and nothing is ambiguous. */
function choosePackage(repository, { wanted, from = "" }) {
	const packages = packagesIn(repository);
	const top = packages.find(({ directory }) => directory === "") ?? {
		directory: "",
		name: "."
	};
	if (wanted !== void 0) return packageNamed(repository, packages, wanted);
	const around = packages.findLast(({ directory }) => directory !== "" && `${from}/`.startsWith(`${directory}/`));
	if (around !== void 0) return around;
	const members = membersOf(repository, packages);
	const [only] = members;
	if (only === void 0) return top;
	if (members.length === 1) return only;
	throw new UserError(`this repository has ${members.length} packages: ${listed(members)}`, { fix: `name one: winnow init --package ${only.directory}, or --package . for the whole` });
}
function packageNamed(repository, packages, wanted) {
	const directory = wanted.replace(/^\.\/|\/+$/g, "").replace(/^\.$/, "");
	const last = (path) => path.slice(path.lastIndexOf("/") + 1);
	const found = packages.find((each) => each.directory === directory) ?? packages.find((each) => each.name === wanted) ?? packages.find((each) => last(each.directory) === directory || last(each.name) === wanted);
	if (found !== void 0) return found;
	if (directory === "" || repository.paths.some((path) => path.startsWith(`${directory}/`))) return {
		directory,
		name: directory === "" ? "." : last(directory)
	};
	const near = nearest(wanted, packages.flatMap((each) => [
		last(each.directory),
		each.directory,
		each.name
	]));
	throw new UserError(`there is no package ${wanted}`, { fix: near === void 0 ? `there is ${listed(packages) || "none"}` : `did you mean --package ${near}?` });
}
function listed(packages) {
	return packages.slice(0, 12).map(({ directory, name }) => {
		const place = directory === "" ? "." : directory;
		return name === place || place.endsWith(`/${name}`) ? place : `${place} (${name})`;
	}).join(", ") + (packages.length > 12 ? ", …" : "");
}
/** What a workspace consists of; without a manifest at the top, whatever has one below. */
function membersOf(repository, packages) {
	const inner = packages.filter(({ directory }) => directory !== "");
	const globs = workspaceGlobs(repository);
	if (globs !== null) {
		const matches = globs.map((glob) => compilePathspec(`${glob.replace(/^\.\/|\/+$/g, "")}/`));
		return inner.filter(({ directory }) => matches.some((match) => match(`${directory}/manifest`)));
	}
	if (packages.some(({ directory }) => directory === "") && !isAggregate(repository)) return [];
	return inner.filter((each) => !inner.some(({ directory }) => each.directory.startsWith(`${directory}/`)));
}
/** A build that only gathers others: go.work, or a pom without sources of its own. */
function isAggregate({ paths }) {
	return [
		"pom.xml",
		"build.gradle",
		"build.gradle.kts",
		"settings.gradle"
	].some((file) => paths.includes(file)) && !paths.some((path) => path.startsWith("src/"));
}
function workspaceGlobs(repository) {
	const npm = valueAt(jsonOf(repository, "package.json"), "workspaces");
	const globs = [
		...texts(npm),
		...texts(valueAt(npm, "packages")),
		...texts(pnpmPackages(repository)),
		...texts(valueAt(tomlOf(repository, "Cargo.toml"), "workspace", "members")),
		...texts(valueAt(tomlOf(repository, "pyproject.toml"), "tool", "uv", "workspace", "members")),
		...goWork(repository.text("go.work"))
	];
	return globs.length === 0 ? null : globs.filter((glob) => !glob.startsWith("!"));
}
function texts(value) {
	return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
function pnpmPackages(repository) {
	const text = repository.text("pnpm-workspace.yaml");
	if (text === null) return null;
	try {
		return valueAt((0, import_dist.parse)(text), "packages");
	} catch (error) {
		if (error instanceof import_dist.YAMLParseError) return null;
		throw error;
	}
}
/** `use ./a` or `use ( ./a ./b )`: the whole grammar that matters here. */
function goWork(text) {
	return [...(text ?? "").matchAll(/^use\s+(?:\(([^)]*)\)|(\S+))/gm)].flatMap(([, many, one]) => (one ?? many ?? "").split(/\s+/).filter((word) => word.startsWith(".")));
}
// src/setup/prefix.ts
const FAMILIES = [
	"",
	"-exp",
	"-campaign",
	"-state",
	"-closed",
	"-archive",
	"-forge"
];
const CANDIDATES = [
	"optimize",
	"winnow",
	"winnow-optimize",
	"optimize-winnow"
];
/** Branches that somebody else made are never written, and git keeps no branch below another. */
function choosePrefix(branches, name, isOurs) {
	const others = branches.map(shortRef).filter((branch) => !isOurs(branch));
	const because = inTheWay(others, "optimize", name);
	const numbered = Array.from({ length: branches.length + 1 }, (_, index) => `optimize-${index + 2}`);
	return {
		prefix: [...CANDIDATES, ...numbered].find((each) => inTheWay(others, each, name) === null) ?? "optimize",
		because
	};
}
function inTheWay(branches, prefix, name) {
	return branches.find((branch) => FAMILIES.some((family) => {
		const top = `${prefix}${family}`;
		const own = `${top}/${name}`;
		return branch === top || branch === own || branch.startsWith(`${own}/`);
	})) ?? null;
}
// src/setup/told.ts
/** What was found, in one line each: a person sees at once what is wrong. */
function foundText({ findings, others }, { directory }) {
	const { language, manager, setup, test, bench } = findings;
	const where = directory === "" ? "" : ` in ${directory}`;
	return [
		`language   ${language}${manager === null || manager === language ? "" : ` with ${manager}`}${where}${others.length === 0 ? "" : ` (also here: ${others.join(", ")}; choose with --language)`}`,
		`set-up     ${setup === null ? "none needed" : `${setup.command}  (${setup.from})`}`,
		`tests      ${test === null ? "none found" : `${test.command}  (${test.from})`}`,
		`benchmark  ${bench === null ? "none found" : `${bench.command}  (${bench.from})`}`
	];
}
function goalText(goal, paths) {
	const { aim, target, also, notUnderstood, subjects } = goal;
	const named = filesNamed(paths, subjects);
	const some = named.slice(0, 4).join(", ") + (named.length > 4 ? ", …" : "");
	return [
		...aim === null ? [] : [`understood: ${aimText(aim)}`],
		...target === null ? [] : [`understood: good enough ${target.words}, which is ${target.value}`],
		...named.length === 0 ? [] : [`understood: it is about ${some}; scope.mutable may be narrowed to that`],
		...also.map((name) => `not drafted: ${name}; a campaign has one primary metric, list it under metric.objectives`),
		...notUnderstood.map((what) => `not understood: ${what}`),
		...printedByHand(goal),
		"gates: the tests, and that what is printed is not empty; none compares answers with those of the baseline: where they must stay the same, keep them in a file outside scope.mutable, and compare in a gate"
	];
}
function printedByHand({ aim }) {
	if (aim === null) return ["the benchmark that was found, or time, is measured instead"];
	if (aim.kind === "judge") return ["judged metrics are not built yet: this draft is refused by check and run until they are; let a harness print a score and use type: hard meanwhile"];
	if (aim.direction === "minimize") return [];
	return [`nothing measures ${aim.metric} by itself: the harness has to print {"${aim.metric}": <number>}, or check fails`];
}
// src/report/agent-lines.ts
/** What `init --agent` adds to AGENTS.md: six lines, the same for the same campaign, so that they can be found again. */
function agentLines(specName) {
	return [
		"## winnow: measured improvements",
		`- \`.winnow/${specName}.yaml\` says what is improved, how it is measured and which files may change; never edit it, nor the harness or its gates.`,
		`- Try an idea: edit files in scope, then \`winnow try --campaign ${specName} -m "what changes and why it helps" --json\`; no commit is needed.`,
		"- Its exit code is the verdict: 0 kept, 10 no gain or worse, 11 not proven, 12 refused, 13 broken, 14 waiting; `next` says what to do.",
		`- A gain you measured yourself is no evidence; what was tried already is in \`winnow status --campaign ${specName} --json\`.`,
		`- What is kept is merged into \`optimize/${specName}\`: start the next idea from there, one idea at a time.`
	];
}
// src/verbs/agent-block.ts
const AGENT_FILE = "AGENTS.md";
const BLOCKS = /^<!-- winnow:([a-z0-9-]+) -->\n[\s\S]*?^<!-- \/winnow:\1 -->\n?/gm;
/** The lines for agents, between marks by which they are found again. */
function withAgentBlock(text, specName) {
	const block = `<!-- winnow:${specName} -->\n${agentLines(specName).join("\n")}\n<!-- /winnow:${specName} -->\n`;
	const there = [...text.matchAll(BLOCKS)].find(([, name]) => name === specName);
	if (there !== void 0) return text.replace(there[0], () => block);
	if (text.trim() === "") return block;
	return `${text.replace(/\n*$/, "\n\n")}${block}`;
}
function withoutAgentBlocks(text) {
	const left = text.replace(BLOCKS, "");
	return left === text ? text : left.replace(/\n{2,}$/, "\n");
}
/** What AGENTS.md will be; everything else in it stays as it is. */
async function agentFile(topLevel, specName) {
	const before = await readFile(join(topLevel, AGENT_FILE), "utf8").catch(nullIfMissing);
	const text = withAgentBlock(before ?? "", specName);
	return {
		text,
		existed: before !== null,
		changed: text !== before
	};
}
async function writeAgentFile(topLevel, { text, changed }) {
	if (changed) await writeFile(join(topLevel, AGENT_FILE), text);
}
// src/verbs/existing-specs.ts
const SPEC = /^\.winnow\/[^/]+\.ya?ml$/;
/** Specs of the work tree and of the default branch: either is in the way of a new one of its name. */
async function existingSpecs({ repository, checkout }, base) {
	const committed = (await treeFiles(repository, base.tree)).map(({ path }) => path);
	const here = checkout.topLevel === null ? null : await readdir(join(checkout.topLevel, ".winnow")).catch(nullIfMissing);
	return [.../* @__PURE__ */ new Set([...committed, ...(here ?? []).map((name) => `.winnow/${name}`)])].filter((path) => SPEC.test(path)).toSorted().map((path) => ({
		path,
		name: nameOfFile(path)
	}));
}
// src/verbs/missing-tools.ts
const BUILT_IN = /* @__PURE__ */ new Set([
	"cd",
	"sh",
	"echo",
	"printf",
	"test",
	"true",
	"set",
	"exit"
]);
/** Programs that the drafted commands start and that this machine does not have: said before a check fails. */
function missingTools(commands, env) {
	return [...new Set(commands.flatMap(startedBy))].filter((name) => !isThere(name, env["PATH"] ?? "")).map((name) => `${name} is not on the PATH of this machine: nothing can be tried before it is installed`);
}
/** The first word of every part of a command, assignments passed over; paths are the project's own. */
function startedBy(command) {
	return command.split(/&&|\|\||[;|]/).flatMap((part) => {
		const word = part.replace(/^[\s(]+/, "").split(/\s+/).find((each) => !/^\w+=/.test(each)) ?? "";
		return /^[\w.+-]+$/.test(word) && !BUILT_IN.has(word) ? [word] : [];
	});
}
function isThere(name, path) {
	return path.split(delimiter).some((directory) => isExecutable(join(directory, name)));
}
function isExecutable(file) {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
// src/verbs/new-files.ts
/** Nothing that exists is overwritten: what was written before a collision is taken back. */
async function writeNewFiles(topLevel, files) {
	requireAbsent(topLevel, files);
	const written = [];
	try {
		for (const { path, text } of files) {
			const file = join(topLevel, path);
			await mkdir(dirname(file), { recursive: true });
			await writeFile(file, text, { flag: "wx" });
			written.push(file);
		}
	} catch (error) {
		for (const file of written) await rm(file, { force: true });
		throw asUserError(error);
	}
}
function requireAbsent(topLevel, files) {
	const there = files.find(({ path }) => existsSync(join(topLevel, path)));
	if (there === void 0) return;
	throw new UserError(`${there.path} exists already, and init overwrites nothing`, {
		place: { file: there.path },
		fix: "give the new spec another name: winnow init --name <other>"
	});
}
function asUserError(error) {
	if (!(error instanceof Error) || !("code" in error)) return error;
	const { code } = error;
	if (![
		"EACCES",
		"EPERM",
		"EROFS",
		"ENOSPC",
		"EDQUOT",
		"ENOTDIR",
		"EEXIST"
	].includes(String(code))) return error;
	return new UserError(`the files could not be written: ${error.message}`, {
		fix: "give write permission or free space there, and repeat",
		cause: error
	});
}
/** The default branch as it would be with these files committed: what can be tried before they are. */
async function withNewFiles({ repository }, base, files, now) {
	const changes = [];
	for (const { path, text } of files) {
		const entry = {
			mode: "100644",
			oid: await repository.writeBlob(text)
		};
		changes.push({
			path,
			entry
		});
	}
	const tree = await repository.replaceAt(base.tree, changes);
	const date = Math.floor(now / 1e3);
	return {
		commit: await repository.writeCommit({
			tree,
			parents: [base.commit],
			message: "winnow init",
			date
		}),
		tree
	};
}
// src/verbs/next-commands.ts
/** What is to be typed next; written for the state in which the project is now. */
function nextCommands(done) {
	const { workshop, paths, specPath, passed } = done;
	const branch = shortRef(workshop.defaultBranch ?? "");
	const place = workshop.checkout.head !== workshop.defaultBranch ? `, on ${branch}` : "";
	const push = workshop.local ? "" : " && git push";
	const commit = `git add ${paths.map(quoted$1).join(" ")} && git commit -m "winnow: ${nameOfFile(specPath)}"${push}`;
	if (!passed) return [
		"",
		"Next, once what is wrong is put right in these files:",
		`  winnow check ${specPath}`,
		`  ${commit}`
	];
	return [
		"",
		`Next${place}:`,
		`  ${commit}`,
		"  winnow run",
		"",
		"To undo it all: winnow uninstall"
	];
}
function quoted$1(path) {
	return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
// src/verbs/own-branches.ts
const LEDGER$1 = /^refs\/heads\/(.+)-(?:state\/([^/]+)|archive\/([^/]+)\/[^/]+\/state)$/;
/** A name alone proves nothing: a branch is winnow's where a ledger of its campaign lies beside it. */
async function ownBranches({ repository }) {
	const { refs } = await repository.remoteRefs(["refs/heads/*"]);
	const all = [...refs.keys()];
	const recorded = /* @__PURE__ */ new Map();
	for (const ref of all) {
		const [, prefix, state, archived] = LEDGER$1.exec(ref) ?? [];
		const name = state ?? archived;
		if (prefix === void 0 || name === void 0 || !allowedRef(prefix, ref)) continue;
		if ((await recordedBeginning(repository, ref))?.spec === name) recorded.set(`${prefix} ${name}`, {
			prefix,
			name
		});
	}
	const campaigns = [...recorded.values()];
	const isOurs = (branch) => campaigns.some((campaign) => belongsTo(campaign, branch));
	return {
		all,
		recorded: campaigns,
		isOurs
	};
}
function belongsTo({ prefix, name }, branch) {
	const short = shortRef(branch);
	if (!allowedRef(prefix, `refs/heads/${short}`)) return false;
	return short.slice(prefix.length).split("/")[1] === name;
}
// src/verbs/init.ts
const init = {
	name: "init",
	group: "start",
	summary: "write a spec from what this project shows by itself, and check it",
	access: "apart",
	arguments: [],
	options: [
		{
			name: "goal",
			value: "words",
			summary: "what is to become better; it is drafted as far as words tell"
		},
		{
			name: "package",
			value: "name|dir",
			summary: "which package of a repository with several"
		},
		{
			name: "language",
			values: LANGUAGES,
			summary: "which language, where there are several"
		},
		{
			name: "name",
			value: "name",
			summary: "what the spec is called; else after what it improves"
		},
		{
			name: "agent",
			summary: `tell coding agents about it: six lines in ${AGENT_FILE}`
		},
		{
			name: "no-check",
			summary: "only write: run neither set-up, tests nor benchmark"
		},
		{
			name: "dry-run",
			summary: "show the files, and write nothing"
		}
	],
	examples: [
		"winnow init",
		"winnow init --dry-run",
		"winnow init --package packages/parser",
		"winnow init --goal \"make the parser faster\"",
		"winnow init --agent"
	],
	exits: {
		2: "something has to be chosen or changed first, and nothing was written; or what was written is not possible yet",
		13: "the files are written, but the harness or a gate failed"
	},
	run: (call) => atRepository(call, DEFAULT_PREFIX, (workshop) => inWorkshop(call, workshop))
};
async function inWorkshop(call, workshop) {
	const topLevel = requireWorkTree$1(workshop);
	const base = await defaultTip(workshop, call.around);
	const existing = await existingSpecs(workshop, base);
	const [first] = existing;
	if (first !== void 0 && !NEW.some((option) => call.given.text(option) !== void 0)) return call.given.flag("agent") ? onlyAgents(call, topLevel, existing) : refuse(first);
	const setting = await settingOf(call, workshop, await committedProject(workshop, base));
	const taken = existing.find(({ name }) => name === setting.name);
	if (taken !== void 0) return call.given.flag("agent") ? onlyAgents(call, topLevel, [taken]) : refuse(taken);
	for (const line of setting.told) call.terminal.out(line);
	const agents = call.given.flag("agent") ? await agentFile(topLevel, setting.name) : null;
	if (call.given.flag("dry-run")) return rehearsed(call, topLevel, setting.draft, agents);
	await writeNewFiles(topLevel, setting.draft.files);
	if (agents !== null) await writeAgentFile(topLevel, agents);
	for (const line of writtenText(setting.draft, agents)) call.terminal.out(line);
	return checked(call, {
		workshop,
		base,
		setting,
		agents
	});
}
function requireWorkTree$1({ checkout: { topLevel } }) {
	if (topLevel !== null) return topLevel;
	throw new UserError("this is a bare repository: init writes files, and there is no work tree for them", { fix: "run it in a clone" });
}
/** Who says any of these wants another spec beside those there are. */
const NEW = [
	"name",
	"package",
	"language",
	"goal"
];
function refuse({ path }) {
	throw new UserError("there is a spec already, and init overwrites nothing", {
		place: { file: path },
		fix: `winnow check ${path}; or write another beside it: winnow init --name <other>`
	});
}
async function onlyAgents(call, topLevel, specs) {
	const [only, another] = specs;
	if (only === void 0 || another !== void 0) throw new UserError(`there are several specs: ${specs.map(({ name }) => name).join(", ")}`, { fix: `say which one agents are told about: winnow init --agent --name ${only?.name ?? "<name>"}` });
	const agents = await agentFile(topLevel, only.name);
	const dry = call.given.flag("dry-run");
	if (dry) call.terminal.out(agents.text.trimEnd());
	else await writeAgentFile(topLevel, agents);
	call.terminal.out(agentText(agents, dry));
	return 0;
}
async function settingOf(call, workshop, repository) {
	const { given } = call;
	const words = given.text("goal");
	const goal = words === void 0 ? null : readGoal(words);
	const chosen = choosePackage(repository, {
		wanted: packageAsked(call, workshop),
		from: placeOf(call, workshop)
	});
	const yard = {
		files: below(repository, chosen.directory),
		repository,
		directory: chosen.directory
	};
	const detected = detect(yard, given.text("language"));
	const packageName = chosen.directory === "" ? null : chosen.directory.replace(/^.*\//, "");
	const name = given.text("name") ?? specName(goal, packageName);
	if (!KEBAB.test(name)) throw new UserError(`${name} cannot be a spec's name`, { fix: `use ${KEBAB_TEXT}` });
	const branches = await ownBranches(workshop);
	const { prefix, because } = choosePrefix(branches.all, name, branches.isOurs);
	const drafted = draft({
		yard,
		detected,
		name,
		prefix,
		goal
	});
	const clash = because === null ? [] : [`branches   ${prefix}/…, because ${because} is a branch of somebody else`];
	const tools = missingTools(drafted.commands, call.around.env);
	return {
		name,
		draft: drafted,
		told: [
			...foundText(detected, yard),
			...clash,
			...goal === null ? [] : goalText(goal, changeable(yard, detected)),
			...[...drafted.notes, ...tools].map((note) => `note: ${note}`)
		],
		goal
	};
}
function changeable({ files }, { findings }) {
	const matches = findings.mutable.map(compilePathspec);
	return files.paths.filter((path) => matches.some((match) => match(path)));
}
/** A path is meant from where the person is. */
function packageAsked({ given, around }, { checkout }) {
	const asked = given.text("package");
	if (asked === void 0 || checkout.topLevel === null) return asked;
	const here = relative(checkout.topLevel, resolve(around.directory, asked));
	return /^\.{1,2}(?:\/|$)/.test(asked) ? here || "." : asked;
}
function rehearsed(call, topLevel, { files }, agents) {
	requireAbsent(topLevel, files);
	const all = agents?.changed === true ? [...files, {
		path: AGENT_FILE,
		text: agents.text
	}] : files;
	call.terminal.out("Nothing was written. It would be:");
	for (const { path, text } of all) call.terminal.out(`\n--- ${path}\n${text.trimEnd()}`);
	return 0;
}
function writtenText({ files, specPath, edit, calls }, agents) {
	const harness = files.filter(({ path }) => path !== specPath).map(({ path }) => path);
	return [
		"",
		`Wrote ${files.map(({ path }) => path).join(", ")}; nothing is committed.`,
		...agents === null ? [] : [agentText(agents, false)],
		...(files.find(({ path }) => path === specPath)?.text ?? "").trimEnd().split("\n").map((line) => `  ${line}`),
		...edit === null ? [] : [`${harness.join(" and ")} ${harness.length === 1 ? "is" : "are"} a harness to begin with: it measures ${calls}.`, `What you want measured goes into ${edit}, where it says so.`]
	];
}
function agentText({ existed, changed }, dry) {
	if (!changed) return `${AGENT_FILE} says it already.`;
	return dry ? `Nothing was written; ${AGENT_FILE} would be as above.` : `${AGENT_FILE}: ${existed ? "its lines for winnow are brought up to date" : "is new"}; not committed.`;
}
/** Where the person is, seen from the top. */
function placeOf({ around }, { checkout }) {
	return checkout.topLevel === null ? "" : relative(checkout.topLevel, around.directory);
}
/** The same check as the verb's, of the default branch as it will be once the files are committed. */
async function checked(call, { workshop, base, setting, agents }) {
	const { draft: drafted } = setting;
	const paths = [...drafted.files.map(({ path }) => path), ...agents?.changed === true ? [AGENT_FILE] : []];
	const next = (passed) => {
		for (const line of nextCommands({
			workshop,
			paths,
			specPath: drafted.specPath,
			passed
		})) call.terminal.out(line);
	};
	if (call.given.flag("no-check")) {
		next(true);
		return 0;
	}
	call.terminal.out("");
	const yaml = drafted.files.find(({ path }) => path === drafted.specPath)?.text ?? "";
	const point = await withNewFiles(workshop, base, drafted.files, call.around.clock.now());
	const text = {
		path: drafted.specPath,
		yaml,
		source: "work tree"
	};
	try {
		const code = await checkSpec(call, {
			workshop,
			text,
			base: point,
			warnings: []
		});
		next(code === 0);
		return code;
	} catch (error) {
		next(false);
		throw error;
	}
}
// src/verbs/ledger-events.ts
/** Every event of the campaign, from the first. */
async function* ledgerEvents({ repository, refs, name }) {
	const tip = (await repository.remoteRefs([refs.state])).refs.get(refs.state);
	if (tip === void 0) throw new UserError(`no campaign ${name} was started`, { fix: "winnow run" });
	await repository.fetch([{
		ref: refs.state,
		oid: tip
	}]);
	yield* readEvents(repository, tip, 0);
}
// src/verbs/log.ts
const log = {
	name: "log",
	group: "see",
	summary: "every event of the campaign, oldest first; with --json one a line",
	access: "read",
	arguments: [],
	options: [],
	examples: ["winnow log", "winnow log --json"],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "read",
		startedOnly: true
	}, async ({ place }) => {
		for await (const event of ledgerEvents(place)) if (call.given.flag("json")) call.terminal.json(event);
		else call.terminal.out(`${event.seq}  ${event.at}  ${eventLine(event)}`);
		return 0;
	})
};
// src/verbs/order-file.ts
const orderSchema = orderTerms.extend({ id: digest });
/** An order as a file, measured without looking at any ledger; its report is a file as well. */
async function measureFile(call) {
	const specFile = required(call, "spec");
	const reportFile = resolve(call.around.directory, required(call, "report"));
	const order = await readOrder(call, required(call, "order"));
	const yaml = await contentOf(call, specFile);
	const { spec, sha256: hash } = parseSpec(yaml, { file: specFile });
	if (hash !== order.spec_sha256) throw new UserError(`${specFile} is not the spec that the order was issued under`, {
		place: { file: specFile },
		fix: `give the file whose sha256 is ${order.spec_sha256}`
	});
	return atRepository(call, DEFAULT_PREFIX, async (workshop) => {
		await bringTrees(workshop.repository, order);
		if (call.given.flag("dry-run")) {
			call.terminal.out(`would measure order ${order.id} and write ${reportFile}`);
			return 0;
		}
		const place = `file-${sha256(order.id).slice(0, 12)}`;
		const report = await measureHere(call, workshop, {
			order,
			spec,
			place,
			what: "winnow measure"
		});
		const part = `${reportFile}.${call.around.random.hex(8)}.part`;
		await writeFile(part, `${JSON.stringify(report)}\n`);
		await rename(part, reportFile);
		call.terminal.out(`report written to ${reportFile}`);
		return 0;
	});
}
function required({ given }, name) {
	const value = given.text(name);
	if (value !== void 0) return value;
	throw new UserError(`--order needs --${name} as well`, { fix: "winnow measure --order FILE --spec FILE --report FILE" });
}
async function readOrder(call, file) {
	const parsed = orderSchema.safeParse(json(await contentOf(call, file), file));
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	throw new UserError(`${file} is not an order: ${issue?.path.join(".")} ${issue?.message}`, { place: { file } });
}
function json(text, file) {
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw new UserError(`${file} is not JSON`, {
			place: { file },
			cause
		});
	}
}
async function contentOf({ around }, file) {
	const text = await readFile(resolve(around.directory, file), "utf8").catch(nullIfMissing);
	if (text === null) throw new UserError(`there is no file ${file}`, { place: { file } });
	return text;
}
/** A candidate's tree is made anew from base and head where it is not here yet, and must be the one ordered. */
async function bringTrees(repository, order) {
	await bring(repository, order.pin.commit);
	await bring(repository, order.base.commit);
	await bringHoldout(repository, order);
	for (const { label, head, tree } of order.candidates) {
		if (await repository.has(tree)) continue;
		await bring(repository, head);
		const merged = await repository.mergeTree(order.base.commit, head);
		if (merged.clean && merged.tree === tree) continue;
		throw new UserError(`${label}: merging ${head} with the base does not give tree ${tree}`, { fix: "measure the order where it was issued" });
	}
}
async function bringHoldout(repository, { stop }) {
	if (stop.rule === "holdout" && stop.source !== null && "ref" in stop.source) await bring(repository, stop.source.commit);
}
async function bring(repository, commit) {
	if (!await repository.has(commit)) await repository.fetch([{
		ref: `refs/ordered/${commit}`,
		oid: commit
	}]);
}
// src/verbs/measure.ts
const measure = {
	name: "measure",
	group: "more",
	summary: "measure orders of the campaign on this machine; the next tick takes their reports in",
	access: "write",
	arguments: [{
		name: "order",
		summary: "the id of one order or its beginning; all by default",
		required: false
	}],
	options: [
		{
			name: "order",
			value: "file",
			summary: "an order as a file, measured without a ledger"
		},
		{
			name: "spec",
			value: "file",
			summary: "with --order: the spec it was issued under"
		},
		{
			name: "report",
			value: "file",
			summary: "with --order: where the report goes"
		}
	],
	examples: ["winnow measure", "winnow measure --order order.json --spec .winnow/parser.yaml --report report.json"],
	exits: {
		13: "the harness failed",
		14: "an order is being measured elsewhere",
		130: "interrupted"
	},
	async run(call) {
		if (call.given.text("order") !== void 0) return measureFile(call);
		refuseStray(call);
		return atCampaign(call, {
			access: "write",
			startedOnly: true
		}, (scene) => measureLive(call, scene));
	}
};
function refuseStray({ given }) {
	for (const name of ["spec", "report"]) {
		if (given.text(name) === void 0) continue;
		throw new UserError(`--${name} means nothing without --order`, { fix: "give --order FILE as well" });
	}
}
async function measureLive(call, scene) {
	const { terminal, given, interrupt } = call;
	await requireCampaign(scene.place);
	const hands = await openHands(scene.place, interrupt);
	const seen = await observe$1(hands);
	const open = seen === null ? [] : openOrders(seen, given.positionals[0]);
	if (seen === null || open.length === 0) {
		terminal.out("No order is waiting to be measured.");
		return 0;
	}
	const { ready, elsewhere } = sorted(seen, open);
	for (const line of elsewhere) terminal.out(line);
	if (scene.rehearsal) {
		for (const id of ready) {
			terminal.out(`would measure order ${short(id)} and write its report for the next tick`);
			scene.rehearsal.files.push(`the report on order ${short(id)}, below ${scene.place.dataDir}`);
		}
		return 0;
	}
	await measureAll(hands, seen, ready, interrupt);
	if (interrupt.aborted) return 130;
	for (const id of ready) terminal.out(`order ${short(id)} is measured; winnow tick takes its report in`);
	return elsewhere.length > 0 ? 14 : 0;
}
function openOrders({ world }, beginning) {
	const ids = Object.values(world.campaign.orders).filter(({ report }) => report === null).map(({ order }) => order.id);
	if (beginning === void 0) return ids;
	const [found, another] = ids.filter((id) => id.startsWith(beginning));
	if (found === void 0) {
		const fix = ids.length === 0 ? "none is waiting" : `waiting are ${ids.map(short).join(", ")}`;
		throw new UserError(`no order that is waiting begins with ${beginning}`, { fix });
	}
	if (another !== void 0) throw new UserError(`several orders begin with ${beginning}`, { fix: "give more of it" });
	return [found];
}
/** An order that some run has taken is its business: measuring it here as well could only be thrown away. */
function sorted({ world }, open) {
	const ready = [];
	const elsewhere = [];
	for (const id of open) {
		const run = world.runs.get(id);
		const dispatched = world.campaign.orders[id]?.run_id ?? null;
		if (run?.state === "reported") elsewhere.push(`order ${short(id)} is measured already; winnow tick takes it in`);
		else if (run?.state === "running") elsewhere.push(`order ${short(id)} is being measured by another process`);
		else if (run === void 0 && dispatched === null) ready.push(id);
		else if (run?.state === "gone" && !run.started && dispatched === null) ready.push(id);
		else elsewhere.push(`order ${short(id)} belongs to a run that ended; winnow run goes on with it`);
	}
	return {
		ready,
		elsewhere
	};
}
async function measureAll(hands, seen, orders, interrupt) {
	const stop = () => {
		for (const order of orders) hands.runner.cancel(order);
	};
	interrupt.addEventListener("abort", stop, { once: true });
	try {
		for (const order of orders) await takeEffect(hands, seen, {
			do: "dispatch",
			order
		});
		while (orders.some((order) => hands.runner.holds(order))) await hands.runner.settled();
	} finally {
		interrupt.removeEventListener("abort", stop);
	}
}
// src/verbs/note.ts
const note = {
	name: "note",
	group: "more",
	summary: "write a sentence into the ledger, about the campaign or one experiment",
	access: "write",
	arguments: [{
		name: "text",
		summary: "what to remember",
		required: true
	}],
	options: [{
		name: "experiment",
		short: "e",
		value: "exp",
		summary: "the experiment it is about"
	}],
	examples: ["winnow note \"the cache is cold on Mondays\"", "winnow note -e exp-007 \"worth another look\""],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async ({ place, rehearsal }) => {
		const text = (call.given.positionals[0] ?? "").trim();
		if (text === "") throw new UserError("a note needs words", { fix: "winnow note \"what to remember\"" });
		const { loaded } = await requireCampaign(place);
		const about = call.given.text("experiment");
		await record(place, [{
			kind: "note",
			text,
			experiment: about === void 0 ? null : experimentNamed(loaded.campaign, about).id
		}]);
		if (rehearsal === null) call.terminal.out("Noted.");
		return 0;
	})
};
// src/engine/submit.ts
/**
* A person's or agent's commit becomes a branch below the experiments and a pull request on it. What cannot be
* measured is refused before anything is written; where pull requests are refs, both appear in one push.
*/
async function submit(place, idea) {
	if (/^exp-\d+$/.test(idea.name)) throw new UserError(`${idea.name} is a name that winnow gives itself`, { fix: "choose another with --name" });
	if (idea.from !== null) await place.repository.fetchFrom(idea.from, idea.commit);
	const first = await look(place, idea);
	const { clock, random } = place;
	const result = await retryLostRaces({
		clock: () => clock.now(),
		sleep: (ms) => clock.sleep(ms),
		random: () => random.fraction()
	}, async () => {
		const now = await look(place, idea);
		requireUnmoved(idea, first, now);
		return attempt(place, idea, now);
	});
	if (result.done) return result.value;
	throw new ConflictError(`the idea could not be written in two minutes: ${result.why}`, [first.ref]);
}
/** The campaign has to be there, and the commit has to bring something that its branch lacks. */
async function look({ repository, refs, name }, idea) {
	const ref = `${refs.experiments}${idea.name}`;
	const { refs: found } = await repository.remoteRefs([
		ref,
		refs.optimize,
		refs.forge
	]);
	const optimize = found.get(refs.optimize);
	if (optimize === void 0) throw new UserError(`no campaign ${name} was started`, { fix: "winnow run" });
	await repository.fetch([{
		ref: refs.optimize,
		oid: optimize
	}]);
	if (await repository.isAncestor(idea.commit, optimize)) throw new UserError(`${idea.commit.slice(0, 12)} has no commit that ${shortRef(refs.optimize)} lacks`, { fix: "commit the idea first, then offer that commit" });
	return {
		ref,
		from: found.get(ref) ?? null,
		refs: found
	};
}
/** Somebody else's branch of that name is not overwritten only because a race was lost for another ref. */
function requireUnmoved({ commit }, first, now) {
	if (now.from === first.from || now.from === commit) return;
	throw new UserError(`${shortRef(now.ref)} was moved by somebody else`, { fix: "try again" });
}
async function attempt(place, idea, ground) {
	const { repository, forge, refs } = place;
	const { ref, from } = ground;
	const branch = shortRef(ref);
	const open = {
		branch,
		base: shortRef(refs.optimize),
		title: idea.title,
		body: idea.body
	};
	const move = from === idea.commit ? [] : [{
		ref,
		from,
		to: idea.commit
	}];
	if (!forge.stage) {
		const pushed = await repository.push(move);
		if (!pushed.ok) return pushAttempt(pushed, {
			branch,
			pull: 0
		});
		return {
			done: true,
			value: {
				branch,
				pull: numberOf(await forge.batch([{
					kind: "open",
					...open
				}]))
			}
		};
	}
	const after = new Map(ground.refs).set(ref, idea.commit);
	const asked = /* @__PURE__ */ new Set([
		ref,
		refs.optimize,
		refs.forge
	]);
	const staged = await forge.stage([{
		kind: "open",
		...open
	}], {
		refs: after,
		covers: (one) => asked.has(one)
	});
	const pull = numberOf(staged.answers);
	const updates = [...move, ...staged.updates];
	const pushed = await repository.push(updates);
	if (pushed.ok && staged.updates.length > 0) staged.accepted();
	return pushAttempt(pushed, {
		branch,
		pull
	});
}
/** A branch that has a pull request already keeps it. */
function numberOf([answer]) {
	if (answer?.ok) return answer.number;
	if (answer?.code === "duplicate" && answer.number !== null) return answer.number;
	throw new UserError(`the pull request could not be opened: ${answer?.message ?? "no answer"}`);
}
// src/verbs/propose.ts
const propose = {
	name: "propose",
	group: "more",
	summary: "offer a commit as an idea: a branch and a pull request that the campaign will measure",
	access: "write",
	arguments: [{
		name: "commit",
		summary: "what to offer; HEAD by default",
		required: false
	}],
	options: [
		{
			name: "message",
			short: "m",
			value: "idea",
			summary: "the hypothesis; by default the commit's subject"
		},
		CATEGORY,
		{
			name: "priority",
			values: [
				"high",
				"medium",
				"low"
			],
			summary: "how soon to measure it (medium)"
		},
		{
			name: "dep",
			value: "package",
			many: true,
			summary: "a package that it adds, to be approved"
		},
		FAMILY,
		{
			name: "name",
			value: "branch",
			summary: "its name below the experiments; again with a new commit updates it"
		}
	],
	examples: ["winnow propose -m \"cache the parsed header\"", "winnow propose fast-path --dep left-pad --priority high"],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async (scene) => {
		const idea = await ideaOf(call, scene);
		const { branch, pull } = await submit(scene.place, idea);
		if (scene.rehearsal === null) {
			call.terminal.out(`#${pull} ${branch}: ${idea.title}`);
			call.terminal.out("The next winnow run or tick makes it an experiment.");
		}
		return 0;
	})
};
async function ideaOf({ given, around }, { workshop }) {
	const { commit, subject } = await resolveCommit(around, given.positionals[0] ?? "HEAD");
	const title = oneLine(given.text("message") ?? subject, 300);
	if (title === "") throw new UserError("an idea needs a sentence", { fix: "winnow propose -m \"what it does, and why it helps\"" });
	const name = given.text("name") ?? `${slug(title)}-${commit.slice(0, 8)}`;
	requireName(name);
	const body = ideaBody({
		hypothesis: title,
		category: given.text("category"),
		priority: priorityGiven(given.text("priority")),
		required_deps: given.texts("dep"),
		family: given.text("family")
	});
	return {
		commit,
		from: workshop.checkout.commonDir,
		name,
		title,
		body
	};
}
async function resolveCommit({ directory, env }, given) {
	const found = await gitRunner(localIsolation(directory, env)).run({
		args: [
			"log",
			"-1",
			"--format=%H%x00%s",
			"--end-of-options",
			given,
			"--"
		],
		answers: [128],
		parse: (output) => output
	});
	const [commit = "", subject = ""] = found.stdout.trim().split("\0");
	if (found.exitCode === 0 && commit !== "") return {
		commit,
		subject
	};
	throw new UserError(`${given} is not a commit of this repository`, { fix: "give a commit, a branch or a tag" });
}
function slug(title) {
	return title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "") || "idea";
}
function requireName(name) {
	if (/^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(name) && !name.endsWith(".lock")) return;
	throw new UserError(`${JSON.stringify(name)} cannot name an idea`, { fix: "use letters and digits, joined by single '-', '_' or '.'" });
}
// src/verbs/replay.ts
const replay = {
	name: "replay",
	group: "more",
	summary: "compute every verdict again from the ledger and name each that differs",
	access: "read",
	arguments: [{
		name: "campaign",
		summary: "which one, where there are several",
		required: false
	}],
	options: [],
	examples: ["winnow replay", "winnow replay --json"],
	exits: { 1: "a verdict differs" },
	run: (call) => atCampaign(call, {
		access: "read",
		startedOnly: true,
		spec: call.given.positionals[0]
	}, async ({ place }) => {
		const result = await replay$1(place);
		if (call.given.flag("json")) call.terminal.json(result);
		else for (const line of replayText(place.name, result)) call.terminal.out(line);
		return result.ok ? 0 : 1;
	})
};
// src/verbs/resume.ts
const resume = {
	name: "resume",
	group: "more",
	summary: "go on with a campaign that was paused or stopped",
	access: "write",
	arguments: [],
	options: [REASON],
	examples: ["winnow resume", "winnow resume -m \"the runner is back\""],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async (scene) => {
		const { place, rehearsal } = scene;
		const { campaign } = (await requireCampaign(place)).loaded;
		if (campaign.status === "running") {
			call.terminal.out(`Campaign ${place.name} is running already.`);
			return 0;
		}
		if (campaign.status === "stopped") await requireRoom(call, scene);
		await record(place, [{
			kind: "campaign-resumed",
			reason: call.given.text("message") ?? `resumed by ${place.by.actor}`
		}]);
		if (rehearsal === null) call.terminal.out(`Campaign ${place.name} goes on. winnow run measures.`);
		return 0;
	})
};
/** Resumed while the rule that stopped it still holds, a campaign would only stop again. */
async function requireRoom(call, scene) {
	const world = await lookAround(call, scene);
	const stop = world === null ? null : stopAgain(world);
	if (stop === null) return;
	throw new UserError(`campaign ${scene.place.name} would stop again at once: ${stop.reason}`, {
		place: {
			file: world?.campaign.spec_path ?? "",
			path: "stopping"
		},
		fix: wayOn(stop.code)
	});
}
/** What is to be taken back and was measured before goes first, whatever stops the campaign then. */
function stopAgain(world) {
	return directReverts(world).length > 0 ? null : ruleThatHolds(world);
}
function wayOn(code) {
	if (code === "empty_backlog") return "bring an idea first: commit a patch, or let ideas in with use: external";
	return `${code === "target_reached" ? "aim further (target)" : `raise stopping.${code}`} in the spec, winnow amend --reason "…", then winnow resume`;
}
// src/verbs/revert.ts
const revert = {
	name: "revert",
	group: "more",
	summary: "ask for a kept experiment to be taken back; the next tick does it, measured",
	access: "write",
	arguments: [{
		name: "exp",
		summary: "a kept experiment",
		required: true
	}],
	options: [REASON],
	examples: ["winnow revert exp-007 -m \"breaks Windows\""],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async ({ place, rehearsal }) => {
		const { campaign } = (await requireCampaign(place)).loaded;
		const { id } = experimentNamed(campaign, call.given.positionals[0] ?? "");
		requireLanded(campaign, id);
		requireFirst(campaign, id);
		await record(place, [{
			kind: "steered",
			action: "revert",
			experiment: id,
			reason: call.given.text("message") ?? `asked for by ${place.by.actor}`
		}]);
		if (rehearsal === null) call.terminal.out(whenText(campaign, id));
		return 0;
	})
};
function requireLanded({ landings }, id) {
	const landed = landings.filter(({ reverted }) => reverted === null).map(({ experiment }) => experiment);
	if (landed.includes(id)) return;
	const before = landings.some(({ experiment }) => experiment === id);
	throw new UserError(before ? `${id} was taken back already` : `${id} was not kept, so it cannot be taken back`, { fix: landed.length === 0 ? "nothing is kept at the moment" : `kept are ${landed.join(", ")}` });
}
function requireFirst({ steered }, id) {
	const wish = steered.find(({ action, experiment }) => action === "revert" && experiment === id);
	if (wish === void 0) return;
	throw new UserError(`${id} is to be taken back already: ${wish.reason}`, { fix: "nothing to do: winnow run or tick takes it back" });
}
function whenText({ status, name }, id) {
	if (status === "running") return `${id} will be taken back by the next winnow tick or run.`;
	return `Noted, but campaign ${name} is ${status}: ${id} is taken back only after winnow resume.`;
}
// src/report/experiment-text.ts
/** `winnow show`: the verdict, the idea, where it lives, and everything that happened to it. */
function experimentText(campaign, experiment, { pr, branch }, { events, charts = [] }) {
	const { id, hypothesis, category, priority, source, head, learnings, metrics, outcome } = experiment;
	const effect = reportedEffect(campaign, experiment);
	const facts = [
		["idea", hypothesis],
		["outcome", outcome],
		["category", `${category}, priority ${priority}`],
		["from", source.use],
		["branch", branch],
		["pull", pr === null ? null : `#${pr}`],
		["head", head],
		["reported effect", effect?.reported ?? null],
		["so far", effect?.soFar == null ? null : `${effect.soFar} (what it was selected by, hence flattering)`],
		["metrics", metricsText(metrics) || null],
		["learnings", learnings],
		...warningsIn(events).map((warning) => ["warning", warning])
	];
	const evidence = evidenceIn(campaign, experiment);
	const noise = evidence === null ? null : calibrationText(campaign.calibration);
	return [
		`${id} ${standingSentence(standingIn(campaign, experiment))}`,
		...[evidence, noise].flatMap((line) => line === null ? [] : [`  ${line}`]),
		...table(facts.flatMap(([name, value]) => value === null ? [] : [[`  ${name}`, value]])),
		...additionsText(experiment),
		"",
		...charts,
		...table(events.map((event) => [
			`  ${event.seq}`,
			event.at,
			eventLine(event)
		]))
	];
}
/** Of the verdict in force, the last one. */
function warningsIn(events) {
	const verdict = events.findLast((event) => event.kind === "decided");
	return verdict?.kind === "decided" ? verdict.warnings : [];
}
/** Whether an event is about one experiment: by its name, or as a candidate of an order of its. */
function concerns(event, id, orders) {
	if (event.kind === "order-issued") return event.candidates.some(({ label }) => label === id);
	if ("experiment" in event && event.experiment === id) return true;
	return "order" in event && typeof event.order === "string" && orders.has(event.order);
}
// src/decide/paired/evidence-path.ts
/** The evidence after every single pair, by the rule that judged it, for people who want to see it grow. */
function evidencePath(paired) {
	const { jobs, rule } = paired;
	const screen = screenOf(paired);
	return jobs.map((job, at) => ({
		order: job.order,
		runner: job.runner,
		fresh: screen !== null && at > screen && (rule.single_machine || job.runner !== jobs[screen]?.runner),
		screened: screen === at,
		pairs: pairsOf(paired, at, job)
	}));
}
function primaryEvidence(paired) {
	return evidenceFor(paired, objectivesOf(paired.spec.metric)[0]);
}
/** The job of the list that screened; void jobs before it have no place in the evidence. */
function screenOf(paired) {
	const { screened, jobs } = primaryEvidence(paired);
	const id = screened === null ? void 0 : jobs[screened.job]?.id;
	const at = paired.jobs.findIndex(({ order }) => order === id);
	return at === -1 ? null : at;
}
function pairsOf(paired, at, job) {
	const { spec, rule, jobs } = paired;
	const [{ name, direction }] = objectivesOf(spec.metric);
	const measure = {
		direction,
		scale: rule.scale
	};
	return metricPairs([job], name).map(({ base, candidate }, index) => {
		const pairs = job.pairs.slice(0, index + 1);
		const soFar = {
			...job,
			pairs,
			complete: job.complete && pairs.length === job.pairs.length
		};
		const state = primaryEvidence({
			...paired,
			jobs: [...jobs.slice(0, at), soFar]
		});
		return {
			first: job.pairs[index]?.first ?? "base",
			base,
			candidate,
			difference: base === null || candidate === null ? null : signedDifference(measure, base, candidate),
			evidence: evidenceOf(lnTotal(state))
		};
	});
}
// src/report/pair-chart.ts
const CHART = 20;
const AS = {
	idea: "as an idea",
	confirmed: "as confirmed on an earlier base",
	combination: "as a combination",
	simplify: "as a simplification"
};
/** The pairs that a verdict rests on, job by job, with the evidence growing towards what it has to reach. */
function pairChart(story) {
	const jobs = evidencePath(story);
	return [
		...headline(story),
		...jobs.flatMap((job, at) => [
			"",
			jobTitle(story, job, at),
			...pairRows(story, job)
		]),
		"",
		...summary(story)
	];
}
function measuredIn({ spec, rule }) {
	const [{ name, direction }] = objectivesOf(spec.metric);
	return {
		name,
		direction,
		scale: rule.scale
	};
}
function headline(story) {
	const { rule, terms, base, tree } = story;
	const measured = measuredIn(story);
	const better = measured.direction === "minimize" ? "lower" : "higher";
	const screen = terms.as === "idea" && rule.fresh_runners > 0 ? `screened at ${numberText(rule.screen)}, ` : "";
	return [
		`Pairs of ${measured.name}: ${better} is better, ${measured.scale} scale`,
		`  ${AS[terms.as]}: ${screen}kept at ${evidenceText(1 / terms.level)} (level ${numberText(Number(terms.level.toPrecision(3)))})`,
		`  worth having: ${gainText(rule.min_effect, measured)}; counts as nothing: ${gainText(rule.null_effect, measured)}`,
		`  base tree ${short(base.tree)}, candidate tree ${short(tree)}`
	];
}
/** A size without its sign, in the units people read. */
function gainText(difference, { direction, scale }) {
	if (scale === "linear") return numberText(difference);
	return `${Math.abs(shareOf(difference, direction) * 100).toFixed(1)} %`;
}
function jobTitle({ rule }, { order, runner, fresh, screened }, at) {
	const machine = rule.single_machine ? "new build on this machine" : `runner ${runner.slice(0, 8)}`;
	const is = [...fresh ? ["fresh"] : [], ...screened ? ["passed the screen"] : []];
	return `job ${at + 1}: ${[machine, ...is].join(", ")}; order ${short(order)}`;
}
function pairRows(story, { pairs }) {
	const measured = measuredIn(story);
	const keep = 1 / story.terms.level;
	const head = [
		"  pair",
		"     base",
		"candidate",
		"   gain",
		"first",
		"evidence",
		` 1${evidenceText(keep).padStart(19)}`
	];
	return table([head, ...pairs.map((pair, at) => pairRow(pair, at, {
		measured,
		keep
	}))]);
}
function pairRow(pair, at, { measured, keep }) {
	const { base, candidate, difference, first, evidence } = pair;
	return [
		`  ${String(at + 1).padStart(4)}`,
		valueText(base).padStart(9),
		valueText(candidate).padStart(9),
		(difference === null ? "none" : signedText(difference, measured)).padStart(7),
		first === "base" ? "base" : "cand.",
		evidenceText(evidence).padStart(8),
		`▕${evidenceBar(evidence, keep, CHART)}▏`
	];
}
function valueText(value) {
	return value === null ? "failed" : String(Number(value.toPrecision(5)));
}
function signedText(difference, measured) {
	return `${difference < 0 ? "-" : "+"}${gainText(difference, measured).replace("-", "")}`;
}
/** Estimate and interval of all pairs, and what they took. */
function summary(story) {
	const { jobs, minutes } = story;
	const measured = measuredIn(story);
	const pairs = metricPairs(jobs, measured.name);
	const { effect, interval } = effectOf$1(differencesOf(pairs, measured));
	const range = interval === null ? ", interval not bounded yet" : ", 95 % interval in brackets";
	const said = effect === null ? "no difference" : `${effectText(effect, interval, measured)}${range}`;
	const took = Object.values(minutes).reduce((sum, each) => sum + each, 0);
	const cost = `${plural(2 * (pairs.length + jobs.length), "execution")} in ${plural(jobs.length, "job")}`;
	return [`  Hodges-Lehmann: ${said}`, `  cost: ${cost} of ${numberText(Number(took.toPrecision(2)))} min, those beside it included`];
}
// src/report/pair-story.ts
/** The pairs of one experiment, gathered again from the ledger's events alone. */
var PairStories = class {
	stories = [];
	#id;
	#specs = /* @__PURE__ */ new Map();
	#open = /* @__PURE__ */ new Map();
	#file = "";
	constructor(id) {
		this.#id = id;
	}
	/** Every event of the campaign, in turn. */
	take(event) {
		const { kind } = event;
		if (kind === "campaign-started") this.#file = event.spec_path;
		if (kind === "campaign-started" || kind === "campaign-amended") this.#specs.set(event.spec_sha256, {
			yaml: event.spec_yaml,
			file: this.#file
		});
		if (kind === "order-issued" && event.stop.rule === "paired" && event.stop.terms[this.#id]) this.#open.set(event.id, event);
		if (kind === "order-lost" || kind === "report-rejected") this.#open.delete(event.order);
		if (kind === "measured") this.#measured(event);
	}
	/** Only the first report of an order that was not lost before it counts. */
	#measured({ order: id, report }) {
		const order = this.#open.get(id);
		this.#open.delete(id);
		const job = order && jobOf$1(askedIn(order), measuredIn$1(report), this.#id);
		if (!order || !job || job.pairs.length === 0) return;
		const story = this.#storyOf(order);
		if (story === null) return;
		story.jobs.push(job);
		story.minutes[id] = Math.max(0, Date.parse(report.finished_at) - Date.parse(report.started_at)) / 6e4;
	}
	/** An order that carries pairs goes on with the story they are from; its terms are those in force now. */
	#storyOf(order) {
		const { stop, purpose, base, candidates, carried, spec_sha256 } = order;
		const terms = stop.rule === "paired" ? stop.terms[this.#id] : void 0;
		const tree = candidates.find(({ label }) => label === this.#id)?.tree;
		const text = this.#specs.get(spec_sha256);
		if (stop.rule !== "paired" || !terms || tree === void 0 || !text) return null;
		const last = this.stories.at(-1);
		if (last && (carried[this.#id] ?? []).length > 0) return Object.assign(last, {
			rule: stop,
			terms
		});
		const { spec } = parseSpec(text.yaml, { file: text.file });
		const story = {
			purpose,
			spec,
			rule: stop,
			terms,
			base,
			tree,
			jobs: [],
			minutes: {}
		};
		this.stories.push(story);
		return story;
	}
};
// src/report/pair-view.ts
function pairView(story) {
	const { purpose, base, tree, rule, terms, minutes } = story;
	const { terms: _, ...common } = rule;
	const path = evidencePath(story);
	const jobs = story.jobs.map(({ order, runner, complete, pairs }, at) => {
		const { fresh = false, screened = false, pairs: weighed = [] } = path[at] ?? {};
		return {
			order,
			runner,
			complete,
			fresh,
			screened,
			minutes: minutes[order] ?? 0,
			pairs: pairs.map((pair, index) => ({
				...pair,
				...weightOf(weighed[index])
			}))
		};
	});
	return {
		purpose,
		base_tree: base.tree,
		tree,
		rule: common,
		terms,
		jobs
	};
}
function weightOf(pair) {
	return {
		difference: pair?.difference ?? null,
		evidence: pair?.evidence ?? 1
	};
}
// src/verbs/show.ts
const show = {
	name: "show",
	group: "see",
	summary: "one experiment: its verdict, its pairs, and all that happened to it",
	access: "read",
	arguments: [{
		name: "exp",
		summary: "the experiment, exp-007 or 7",
		required: true
	}],
	options: [],
	examples: ["winnow show exp-007", "winnow show 7 --json"],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "read",
		startedOnly: true
	}, async (scene) => {
		const { loaded } = await requireCampaign(scene.place);
		const experiment = experimentNamed(loaded.campaign, call.given.positionals[0] ?? "");
		const { campaign } = loaded;
		const view = experimentView(campaign, experiment, await pullNumbers(scene.place, loaded.campaign));
		const { events, stories } = await told(scene, experiment.id);
		if (call.given.flag("json")) {
			const evidence = evidenceIn(campaign, experiment);
			call.terminal.json({
				...view,
				evidence,
				pairs: stories.map(pairView),
				events
			});
			return 0;
		}
		const charts = stories.flatMap((story) => [...pairChart(story), ""]);
		for (const line of experimentText(campaign, experiment, view, {
			events,
			charts
		})) call.terminal.out(line);
		return 0;
	})
};
/** What the ledger says of it, and the pairs it was decided by. */
async function told({ place }, id) {
	const orders = /* @__PURE__ */ new Set();
	const events = [];
	const pairs = new PairStories(id);
	for await (const event of ledgerEvents(place)) {
		pairs.take(event);
		if (!concerns(event, id, orders)) continue;
		if (event.kind === "order-issued") orders.add(event.id);
		events.push(event);
	}
	return {
		events,
		stories: pairs.stories
	};
}
// src/verbs/status.ts
const status = {
	name: "status",
	group: "see",
	summary: "where the campaign stands, and a verdict for every experiment",
	access: "read",
	arguments: [],
	options: [],
	examples: ["winnow status", "winnow status --json --campaign parser"],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "read",
		startedOnly: true
	}, async ({ place }) => {
		const { loaded, spec } = await requireCampaign(place);
		const view = statusView(loaded.campaign, await pullNumbers(place, loaded.campaign));
		if (call.given.flag("json")) {
			call.terminal.json(view);
			return 0;
		}
		const notes = usesStoredScore(spec) ? [NOT_NOISE_PROOF] : [];
		for (const line of statusText(loaded.campaign, view, notes)) call.terminal.out(line);
		return 0;
	})
};
// src/verbs/stop.ts
const stop = {
	name: "stop",
	group: "steer",
	summary: "end the campaign: what is open is closed, what was kept stays",
	access: "write",
	arguments: [],
	options: [REASON],
	examples: ["winnow stop -m \"good enough\""],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true
	}, async (scene) => {
		const { campaign } = (await requireCampaign(scene.place)).loaded;
		const already = campaign.status === "stopped";
		await closeDown(call, scene, "person", call.given.text("message") ?? `stopped by ${scene.place.by.actor}`);
		if (scene.rehearsal) return 0;
		call.terminal.out(already ? `Campaign ${campaign.name} was stopped already: ${campaign.status_reason}` : `Campaign ${campaign.name} is stopped. Its result is on ${scene.place.prefix}/${campaign.name}.`);
		return 0;
	})
};
// src/verbs/tick.ts
const tick = {
	name: "tick",
	group: "more",
	summary: "observe, plan and apply until nothing is left to do now; measures nothing",
	access: "write",
	arguments: [],
	options: [],
	examples: ["winnow tick", "winnow tick --dry-run"],
	exits: {},
	run: (call) => atCampaign(call, {
		access: "write",
		startedOnly: true,
		announce: true
	}, async (scene) => {
		await requireCampaign(scene.place);
		const waiting = await lookingTick(call, scene);
		if (scene.rehearsal === null) call.terminal.out(waitingSentence(waiting));
		return 0;
	})
};
// src/report/try-answer.ts
function answerOf(campaign, experiment, around) {
	const standing = standingIn(campaign, experiment);
	const landing = campaign.landings.find((one) => one.experiment === experiment.id && one.reverted === null);
	const { id, outcome, metrics, hypothesis, branch } = experiment;
	const landed = landing?.commit ?? null;
	const said = standingSentence({
		...standing,
		next: null
	});
	return {
		campaign: campaign.name,
		id,
		verdict: verdictPhrase(standing),
		outcome,
		sentence: sentenceWith(said, {
			...around,
			id,
			landed
		}),
		evidence: evidenceIn(campaign, experiment),
		metrics,
		next: nextStep(experiment, around),
		hypothesis,
		branch,
		pr: around.pr,
		landed,
		tried_before: around.triedBefore,
		left_out: [...around.leftOut]
	};
}
/** One sentence stays one: where it landed, or that it is the verdict of another time, is said in it. */
function sentenceWith(said, { id, landed, optimize, triedBefore, waiting }) {
	const plain = said.replace(/\.$/, "");
	const before = triedBefore ? plain.replace(/^([^:]+)/, `$1 (tried before, as ${id})`) : plain;
	if (landed !== null) return `${before}; ${optimize} is at ${short(landed)} with it.`;
	return waiting === null ? `${before}.` : `${before}: ${asPart(waiting)}.`;
}
/** Said after a colon, in one sentence with what stands before it. */
function asPart(text) {
	return text.replace(/^approval: /, "").replace(/\.$/, "").replaceAll(/\. (\S)/g, (_, first) => `; ${first.toLowerCase()}`);
}
function nextStep({ id, status, verdict, reason, resumed }, { take }) {
	if (status === "deferred") return `a person approves what it adds: winnow approve ${id}`;
	switch (verdict) {
		case null: return `type the same again, or winnow show ${id}`;
		case "kept": return take;
		case "no gain": return "leave it, and try something different in kind";
		case "worse": return "undo it: it does harm";
		case "not proven": return status === "parked" ? `type the same again for more jobs${resumed === 0 ? "" : ", or look for a larger gain"}` : "look for a larger gain";
		case "refused": return `mend what it names (${reason ?? "winnow show"}), then try again`;
		case "broken": return `winnow show ${id} has the last lines; mend it, then try again`;
		default: return verdict;
	}
}
function answerWithout({ campaign, verdict, message, next, leftOut }) {
	return {
		campaign,
		id: null,
		verdict,
		outcome: verdict === "refused" ? "refused" : null,
		sentence: `${capitalised(verdict)}: ${message.replace(/\.$/, "")}.`,
		evidence: null,
		metrics: {},
		next,
		hypothesis: null,
		branch: null,
		pr: null,
		landed: null,
		tried_before: false,
		left_out: [...leftOut]
	};
}
/** Design section 9: what a script is answered. */
function tryExitCode({ verdict }) {
	if (verdict === "kept, taken back") return EXIT_CODES["no gain"];
	return isWord(verdict) ? EXIT_CODES[verdict] : 14;
}
function isWord(verdict) {
	return Object.hasOwn(EXIT_CODES, verdict);
}
/** The sentence first, then what it rests on, then what to do. */
function answerText({ sentence, evidence, id, pr, branch, landed, next }) {
	const where = id === null ? [] : [[
		id,
		pr === null ? "" : `#${pr}`,
		landed === null ? branch ?? "" : ""
	]];
	return [
		sentence,
		...evidence === null ? [] : [`  ${evidence}`],
		...where.map((words) => `  ${words.filter((word) => word !== "").join("  ")}`),
		`Next: ${next}`
	];
}
// src/verbs/continued-diff.ts
/**
* Whoever goes on editing after a diff was kept builds on it, though their HEAD does not have it: the diff then
* follows on what landed as well. Null where nothing of theirs landed.
*/
async function continuedDiff(repository, { landings }, diff) {
	const { head, tree, hypothesis } = diff;
	const own = await repository.commit(head);
	for (const landing of landings.toReversed()) {
		if (landing.reverted !== null || !await repository.has(landing.head)) continue;
		const landed = await repository.commit(landing.head);
		if (landed.tree !== own.tree && !landed.parents.includes(head)) continue;
		const { date } = own.committer;
		const parents = [head, landing.head];
		return {
			...diff,
			commit: await repository.writeCommit({
				tree,
				parents,
				message: hypothesis,
				date
			})
		};
	}
	return null;
}
// src/verbs/earlier-try.ts
/**
* Killed and typed again, a diff goes on as the experiment it became (invariant 7); and what was measured once is
* never measured again in the hope of another answer.
*/
async function standingOf(repository, world, diff) {
	const standing = await standingAs(repository, world, diff);
	if (standing.is !== "refused" || standing.code !== "conflict") return standing;
	const continued = await continuedDiff(repository, world.campaign, diff);
	return continued === null ? standing : standingAs(repository, world, continued);
}
async function standingAs(repository, world, diff) {
	const { campaign, spec } = world;
	const open = await sameFiles(repository, Object.values(campaign.experiments).filter(({ status }) => status !== "ended"), diff);
	if (open) return {
		is: "known",
		experiment: open
	};
	const { incumbent } = campaign;
	const unsynced = world.sync === null ? null : world.defaultTip.commit;
	const facts = await candidateFacts({
		repository,
		campaign,
		spec,
		incumbent,
		head: diff.commit,
		unsynced
	});
	if (facts.merged === "conflict") return conflicting(world, facts.paths);
	if (facts.aheadOfSync) return bringsNothing(repository, world, diff);
	const landed = await sameFiles(repository, landedOf(world), diff);
	if (facts.refusal?.code === "empty") return landed ? {
		is: "known",
		experiment: landed
	} : nothingNew(world, diff);
	if (facts.contains !== null) return {
		is: "refused",
		code: "reverted",
		message: `contains ${facts.contains}, which was reverted`,
		next: "commit the change again on the incumbent"
	};
	if (facts.refusal) return {
		is: "refused",
		...facts.refusal,
		next: "mend that, then type the same again"
	};
	const twin = campaign.experiments[campaign.trees[facts.tree] ?? ""];
	return twin ? {
		is: "known",
		experiment: twin
	} : {
		is: "new",
		diff
	};
}
/** Against the default branch as it will be once the campaign has taken it in. */
async function bringsNothing(repository, world, diff) {
	return await isCommittedIn(repository, diff, world.defaultTip.commit) ? nothingToTry(world.campaign.name) : {
		is: "new",
		diff
	};
}
/** Nothing but commits that the default branch has: those are the base, and no idea. */
async function isCommittedIn(repository, { commit, head }, tip) {
	return commit === head && await repository.isAncestor(head, tip);
}
/** There is a diff, and somebody else's brought the same. */
function nothingNew({ campaign, spec }, { uncommitted }) {
	if (uncommitted.length === 0) return nothingToTry(campaign.name);
	const optimize = shortRef(campaignRefs(spec.branches.prefix, campaign.name).optimize);
	return {
		is: "refused",
		code: "empty",
		message: `nothing to try: ${optimize} has all of this already`,
		next: `start the next idea from ${optimize}`
	};
}
function nothingToTry(campaign) {
	return {
		is: "refused",
		code: "empty",
		message: `nothing to try: no file in scope differs from what campaign ${campaign} has`,
		next: "edit a file in scope, then type the same again"
	};
}
function conflicting({ campaign, spec }, paths) {
	return {
		is: "refused",
		code: "conflict",
		message: `does not merge with the incumbent: conflict in ${paths.slice(0, 5).join(", ")}`,
		next: `commit it to a branch, merge ${shortRef(campaignRefs(spec.branches.prefix, campaign.name).optimize)} there, resolve, then type the same again`
	};
}
function landedOf({ campaign }) {
	return campaign.landings.filter(({ reverted }) => reverted === null).flatMap(({ experiment }) => campaign.experiments[experiment] ?? []);
}
async function sameFiles(repository, experiments, { tree }) {
	for (const experiment of experiments.toReversed()) if (experiment.head !== null && await treeOf(repository, experiment.head) === tree) return experiment;
	return null;
}
/** A head refused before it was measured may be held by nobody. */
async function treeOf(repository, commit) {
	return await repository.has(commit) ? (await repository.commit(commit)).tree : null;
}
// src/verbs/offer-diff.ts
/** Whoever measures takes it next; the same files on the same incumbent have the same branch. */
async function offer({ given }, { place }, { campaign, diff }) {
	const { commit, hypothesis: title } = diff;
	const idea = ideaGiven(given, campaign);
	const body = ideaBody({
		hypothesis: title,
		category: given.text("category") ?? idea?.category,
		priority: "high",
		required_deps: [...idea?.required_deps ?? [], ...given.texts("needs")],
		family: given.text("family") ?? idea?.family ?? void 0,
		idea: idea === null ? void 0 : ideaName(idea)
	});
	const identity = canonicalJson([
		diff.head,
		diff.tree,
		campaign.incumbent.commit
	]);
	return (await submit(place, {
		commit,
		from: null,
		name: `try-${sha256(identity).slice(0, 12)}`,
		title,
		body
	})).branch;
}
function ideaGiven(given, campaign) {
	const name = given.text("idea");
	return name === void 0 ? null : ideaNamed(campaign, name);
}
/** What was written down says what it is, where nothing else does. */
async function wordsOfIdea({ given }, { campaign, place }) {
	if (given.text("idea") === void 0 || !campaign.started) return void 0;
	return ideaGiven(given, (await requireCampaign(place)).loaded.campaign)?.hypothesis;
}
// src/verbs/own-diff.ts
/** Only read: no file, index or ref of the person is touched (invariant 12). */
async function ownDiff(asked) {
	const { workshop, env, spec, onlyInScope } = asked;
	const { repository, checkout } = workshop;
	const topLevel = requireWorkTree(checkout.topLevel);
	const head = await headOf(topLevel, env);
	await repository.fetchFrom(checkout.commonDir, head);
	const { isMutable } = compileScope(spec);
	const read = await readWorkTree({
		into: repository.dir,
		topLevel,
		head,
		env,
		takes: isMutable
	});
	if ("unmerged" in read) return unresolved(read.unmerged);
	const { tree: base } = await repository.commit(head);
	const entries = await repository.diff(base, read.tree);
	const outside = entries.filter(({ path }) => !isMutable(path)).map(({ path }) => path);
	if (outside.length > 0 && !onlyInScope) return outOfScope(outside);
	const inside = entries.filter(({ path }) => isMutable(path));
	return committed(asked, {
		head,
		base,
		tree: outside.length === 0 ? read.tree : await repository.replaceAt(base, inside.map(asChange)),
		inside,
		leftOut: [...outside, ...read.leftOut]
	});
}
/** Dated like HEAD: the same files on the same commit are the same commit, however often they are tried. */
async function committed({ workshop: { repository }, message }, { head, base, tree, inside, leftOut }) {
	const { committer, message: subject } = await repository.commit(head);
	const uncommitted = tree === base ? [] : inside.map(({ path }) => path);
	const otherwise = tree === base ? subject.split("\n", 1)[0] ?? "" : `change ${someOf(uncommitted)}`;
	const hypothesis = oneLine(message ?? otherwise, 300);
	if (hypothesis === "") throw new UserError("an idea needs a sentence", { fix: "winnow try -m \"what it does, and why it helps\"" });
	const made = {
		tree,
		parents: [head],
		message: hypothesis,
		date: committer.date
	};
	return {
		head,
		commit: tree === base ? head : await repository.writeCommit(made),
		tree,
		hypothesis,
		uncommitted,
		addsFiles: inside.some(({ status }) => status === "A"),
		leftOut
	};
}
function requireWorkTree(topLevel) {
	if (topLevel !== null) return topLevel;
	throw new UserError("a bare repository has no work tree to try", { fix: "run winnow try in a clone, or offer a commit: winnow propose <commit>" });
}
async function headOf(topLevel, env) {
	const { exitCode, stdout } = await gitRunner(localIsolation(topLevel, env)).run({
		args: [
			"rev-parse",
			"--verify",
			"--quiet",
			"HEAD^{commit}"
		],
		answers: [1, 128],
		parse: (output) => output
	});
	if (exitCode === 0) return stdout.trim();
	throw new UserError("there is no commit here yet", { fix: "commit what is to be improved first" });
}
function asChange({ path, newMode, newOid }) {
	return {
		path,
		entry: newMode === null || newOid === null ? null : {
			mode: newMode,
			oid: newOid
		}
	};
}
function unresolved(paths) {
	return {
		code: "conflict",
		message: `a merge is not finished: conflict in ${someOf(paths)}`,
		next: "resolve it, then type the same again"
	};
}
function outOfScope(paths) {
	return {
		code: "out-of-scope",
		message: `${plural(paths.length, "changed file")} outside scope.mutable: ${someOf(paths)}`,
		next: `undo or commit elsewhere what is outside, or leave it out: winnow try --only-in-scope`
	};
}
function someOf(paths) {
	const more = paths.length - 3;
	return `${paths.slice(0, 3).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
// src/verbs/take-command.ts
const PLAIN = /^[\w./-]+$/;
const MOST = 3;
/** The command that brings what was kept; what is not committed would be in its way, and is in it already. */
function takeCommand({ around }, { place, workshop }, diff) {
	const optimize = shortRef(place.refs.optimize);
	const { remotes } = workshop.checkout;
	const remote = (remotes.find(({ name }) => name === (around.remote ?? "origin")) ?? remotes[0])?.name;
	const merge = place.local || remote === void 0 ? `git merge ${optimize}` : `git fetch ${remote} && git merge ${remote}/${optimize}`;
	return [aside(diff), merge].filter((text) => text !== "").join(" && ");
}
function aside({ uncommitted, addsFiles }) {
	if (uncommitted.length === 0) return "";
	if (uncommitted.length > MOST || !uncommitted.every((path) => PLAIN.test(path))) return `git stash${addsFiles ? " --include-untracked" : ""}`;
	return `git stash push --include-untracked -- ${uncommitted.join(" ")}`;
}
// src/verbs/try-held.ts
/** Why nothing may be measured now: a person's word or a rule of the spec holds for `try` as for `run`. */
async function whyHeld({ place }, world) {
	const { status, status_source } = world.campaign;
	const status_reason = world.campaign.status_reason?.split("\n", 1)[0] ?? "";
	if (status === "paused") return `the campaign is paused (${status_reason}); winnow resume goes on`;
	if (status === "stopped" && status_source === "person") return `the campaign was stopped (${status_reason}); winnow resume goes on`;
	const stop = stopFor(world);
	if (stop !== null && stop.code !== "empty_backlog") return `the campaign is over: ${stop.reason}; raise that in the spec, winnow amend, then winnow resume`;
	const [held] = await place.repository.worktreesHolding([place.refs.optimize]);
	if (held === void 0) return null;
	return `${shortRef(held.branch)} is checked out in ${held.path}, and winnow moves no branch that somebody is on: git switch -c my-idea`;
}
// src/verbs/try.ts
const tryDiff = {
	name: "try",
	group: "start",
	summary: "measure what you just changed, and say whether it is kept",
	access: "write",
	arguments: [],
	options: [
		{
			name: "message",
			short: "m",
			value: "hypothesis",
			summary: "what changes, and why it should help"
		},
		CATEGORY,
		{
			name: "needs",
			value: "package",
			many: true,
			summary: "a package that it adds, to be approved"
		},
		FAMILY,
		{
			name: "idea",
			value: "idea",
			summary: "the idea of the backlog that this carries out"
		},
		{
			name: "only-in-scope",
			summary: "leave out what is changed outside the scope, instead of refusing"
		},
		{
			name: "json",
			summary: "print the answer as JSON; progress goes to stderr"
		}
	],
	examples: [
		"winnow try -m \"cache the parsed header\"",
		"winnow try --json",
		"winnow try -m \"drop the copy\" --category allocation --only-in-scope"
	],
	exits: {
		[EXIT_CODES.kept]: "kept: it is merged into the optimize branch",
		[EXIT_CODES.worse]: "no gain, or worse",
		[EXIT_CODES["not proven"]]: "not proven yet",
		[EXIT_CODES.refused]: "refused: nothing changed, out of scope, or in conflict",
		[EXIT_CODES.broken]: "broken: a gate or the harness failed",
		[14]: "waiting for a person, an approval or a machine",
		130: "interrupted; the same command goes on"
	},
	run(call) {
		const here = {
			...call,
			around: {
				...call.around,
				preferMain: true
			}
		};
		return atCampaign(here, {
			access: "write",
			startedOnly: false,
			announce: true
		}, (scene) => inScene(here, scene));
	}
};
async function inScene(call, scene) {
	const answer = await tried(call, scene);
	if (answer === null) return 0;
	if (call.interrupt.aborted) {
		call.terminal.err(`interrupted: type the same again, and ${answer.id ?? "it"} goes on`);
		return 130;
	}
	if (scene.rehearsal !== null) scene.rehearsal.answered = true;
	if (call.given.flag("json")) call.terminal.json(answer);
	else for (const line of answerText(answer)) call.terminal.out(line);
	return tryExitCode(answer);
}
/** Null where nothing was measured because it was a rehearsal. */
async function tried(call, scene) {
	const diff = await ownDiff({
		workshop: scene.workshop,
		env: call.around.env,
		spec: await specInForce(scene),
		message: call.given.text("message") ?? await wordsOfIdea(call, scene),
		onlyInScope: call.given.flag("only-in-scope")
	});
	if ("code" in diff) return refusal(scene, diff, []);
	sayLeftOut(call, diff);
	if (await bringsNothingYet(call, scene, diff)) return refusal(scene, nothingToTry(scene.place.name), diff.leftOut);
	const here = await start(call, scene);
	const world = await lookAround(call, here);
	if (world === null) throw new ConflictError("the campaign is not there yet", []);
	return inWorld(call, here, {
		world,
		diff
	});
}
/** No campaign is begun for nothing. */
async function bringsNothingYet({ around }, { campaign, workshop }, diff) {
	if (campaign.started) return false;
	const { commit } = await defaultTip(workshop, around);
	return isCommittedIn(workshop.repository, diff, commit);
}
async function specInForce(scene) {
	if (scene.campaign.started) return (await requireCampaign(scene.place)).spec;
	const committed = await committedSpec(scene.place, specPathOf(scene));
	requireSupported(committed);
	return committed.spec;
}
function sayLeftOut({ terminal }, { leftOut }) {
	for (const path of leftOut.slice(0, 5)) terminal.err(`note: ${path} is outside the scope and left out`);
	if (leftOut.length > 5) terminal.err(`note: and ${leftOut.length - 5} more`);
}
async function inWorld(call, scene, known) {
	const standing = await standingOf(scene.place.repository, known.world, known.diff);
	if (standing.is === "refused") return refusal(scene, standing, known.diff.leftOut);
	if (standing.is === "known" && standing.experiment.status === "ended") {
		const { campaign } = known.world;
		return verdictOn(call, scene, {
			campaign,
			diff: known.diff,
			experiment: standing.experiment,
			before: true
		});
	}
	if (baseFails(known.world.campaign)) return baseBroken(scene, known.world.campaign, known.diff);
	const held = await whyHeld(scene, known.world);
	if (held !== null) return waits(scene, held, known.diff);
	return measured(call, scene, known, standing);
}
async function measured(call, scene, known, standing) {
	const { world, diff } = known;
	await goOn(scene, world, standing);
	const branch = await branchOf(call, scene, world, standing);
	if (scene.rehearsal !== null || branch === null) {
		await lookingTick(call, scene);
		return null;
	}
	sayWhoIsFirst(scene, world, branch);
	const hands = await openHands(scene.place, call.interrupt, { only: branch });
	const enough = (campaign) => isSettled(campaign, branch);
	const waiting = await run$1(hands, {
		signal: call.interrupt,
		watch: false,
		enough
	});
	return afterwards(call, scene, {
		campaign: await campaignNow(hands),
		waiting,
		branch,
		diff
	});
}
async function branchOf(call, scene, { campaign }, standing) {
	if (standing.is === "known") return standing.experiment.branch;
	return offer(call, scene, {
		campaign,
		diff: standing.diff
	});
}
/** What ended by itself goes on with a new idea; what was not proven is given more jobs. */
async function goOn({ place, rehearsal }, { campaign }, standing) {
	if (rehearsal !== null) return;
	if (campaign.status === "stopped") {
		place.progress.say(`the campaign had stopped (${campaign.status_reason}): it goes on with this idea`);
		await record(place, [{
			kind: "campaign-resumed",
			reason: "winnow try brings an idea"
		}]);
	}
	if (standing.is !== "known" || standing.experiment.status !== "parked") return;
	const { id } = standing.experiment;
	await record(place, [{
		kind: "steered",
		action: "retry",
		experiment: id,
		reason: "winnow try asks for more jobs"
	}]);
}
/** A round is never cut in half. */
function sayWhoIsFirst({ place }, { campaign: { round } }, branch) {
	if (!round?.open) return;
	const others = round.members.join(", ");
	place.progress.say(`round ${round.number} is under way (${others}): it ends before ${branch} is measured`);
}
async function campaignNow({ memory, place }) {
	return memory.loaded?.campaign ?? (await requireCampaign(place)).loaded.campaign;
}
async function afterwards(call, scene, result) {
	const { campaign, waiting, branch, diff } = result;
	const experiment = meantExperiment(campaign, branch);
	if (baseFails(campaign)) return baseBroken(scene, campaign, diff);
	if (experiment === void 0) return waits(scene, waitingSentence(waiting), diff);
	return verdictOn(call, scene, {
		campaign,
		experiment,
		diff,
		before: false,
		waiting: waiting.for === "person" && experiment.verdict === null ? waiting.what : null
	});
}
async function verdictOn(call, scene, verdict) {
	const { campaign, experiment, diff, before, waiting = null } = verdict;
	const numbers = await pullNumbers(scene.place, campaign);
	return answerOf(campaign, experiment, {
		optimize: shortRef(scene.place.refs.optimize),
		pr: experiment.pull ?? numbers.get(experiment.branch ?? "") ?? null,
		triedBefore: before,
		leftOut: diff.leftOut,
		take: takeCommand(call, scene, diff),
		waiting
	});
}
function refusal({ campaign: { name } }, { message, next }, leftOut) {
	return answerWithout({
		campaign: name,
		verdict: "refused",
		message,
		next,
		leftOut
	});
}
function waits({ campaign: { name } }, message, { leftOut }) {
	return answerWithout({
		campaign: name,
		verdict: "waiting for a person",
		message,
		next: "see to that, then type the same again",
		leftOut
	});
}
function baseBroken({ campaign: { name } }, { status_reason }, { leftOut }) {
	return answerWithout({
		campaign: name,
		verdict: "broken",
		message: `the base itself fails, whatever is changed: ${status_reason?.split("\n", 1)[0] ?? ""}`,
		next: "mend what is missing on this machine, or commit (and push) what is wrong in the repository; then winnow resume, and the same again",
		leftOut
	});
}
// src/verbs/own-files.ts
function ownFiles(topLevel) {
	if (topLevel === null) return {
		specs: [],
		agents: null
	};
	const folder = join(topLevel, ".winnow");
	const specs = (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(folder, {
		recursive: true,
		withFileTypes: true
	}) : []).flatMap((entry) => entry.isDirectory() ? [] : [join(entry.parentPath, entry.name).slice(topLevel.length + 1)]);
	const text = unlessMissing(() => readFileSync(join(topLevel, AGENT_FILE), "utf8"));
	const left = text === null ? null : withoutAgentBlocks(text);
	return {
		specs: specs.toSorted(),
		agents: left === text ? null : left
	};
}
async function removeOwnFiles(topLevel, { specs, agents }) {
	for (const path of specs) await rm(join(topLevel, path), { force: true });
	if (specs.length > 0) await removeEmpty(join(topLevel, ".winnow"));
	if (agents === null) return;
	const file = join(topLevel, AGENT_FILE);
	await (agents.trim() === "" ? rm(file) : writeFile(file, agents));
}
async function removeEmpty(directory) {
	for (const entry of readdirSync(directory, { withFileTypes: true })) if (entry.isDirectory()) await removeEmpty(join(directory, entry.name));
	if (readdirSync(directory).length === 0) await rmdir(directory);
}
function ownFilesText({ specs, agents }) {
	return [...specs, ...agents === null ? [] : [`the lines for winnow in ${AGENT_FILE}`]];
}
function unlessMissing(look) {
	try {
		return look();
	} catch (error) {
		if (isMissing(error)) return null;
		throw error;
	}
}
// src/verbs/remains.ts
/** Fetches nothing but ledgers: what there is, and nothing changed. */
async function remainsOf(call, remote) {
	const around = {
		...call.around,
		remote
	};
	const checkout = await inspectCheckout(around.directory, around.env);
	const dataDir = dataDirFor(checkout, around);
	const hadDataDir = existsSync(dataDir);
	return atRepository({
		...call,
		around
	}, DEFAULT_PREFIX, async (workshop) => {
		const { repository, local } = workshop;
		const { all, recorded } = await ownBranches(workshop);
		const specs = (await knownCampaigns(workshop)).filter(({ specPath }) => specPath !== null);
		const claims = [...recorded.map((one) => ({
			...one,
			started: true
		})), ...specs.map(({ name, prefix }) => ({
			name,
			prefix,
			started: false
		}))];
		const { refs } = await repository.remoteRefs(["refs/heads/*"]);
		const branches = all.flatMap((ref) => {
			const claim = claims.find((each) => claimsBranch(each, ref));
			const oid = refs.get(ref);
			return claim === void 0 || oid === void 0 ? [] : [{
				prefix: claim.prefix,
				tip: {
					ref,
					oid
				}
			}];
		});
		const ours = new Set(branches.map(({ tip }) => tip.ref));
		const left = all.filter((ref) => !ours.has(ref) && claims.some((claim) => looksLike(claim, ref))).map(shortRef);
		return {
			remote,
			local,
			dataDir,
			hadDataDir,
			repositoryDir: repository.dir,
			format: repository.objectFormat,
			branches,
			left
		};
	});
}
const OFFERED = /^-(?:exp|forge)\//;
function claimsBranch(claim, ref) {
	if (!belongsTo(claim, ref)) return false;
	return claim.started || OFFERED.test(shortRef(ref).slice(claim.prefix.length));
}
function looksLike({ prefix }, ref) {
	return allowedRef(prefix, ref);
}
/** A branch that is checked out anywhere cannot go: said before anything is removed. */
async function requireNotCheckedOut(call, remains) {
	if (!remains.local) return;
	const { directory, env } = call.around;
	const worktrees = await gitRunner(localIsolation(directory, env)).run(listWorktrees(directory));
	const refs = new Set(remains.branches.map(({ tip }) => tip.ref));
	const held = worktrees.find(({ branch }) => branch !== null && refs.has(branch));
	if (held === void 0) return;
	throw new UserError(`${shortRef(held.branch ?? "")} is checked out in ${held.path}; nothing was removed`, { fix: `check out another branch there (git -C ${held.path} switch -), then winnow uninstall again` });
}
// src/git/bundle.ts
/**
* Branches with their whole history in one file, as git itself would check it before bringing them back. They get
* their own names in a repository that only borrows the objects.
*/
async function saveBundle({ dir, format, tips, file, env }) {
	const room = await mkdtemp(join(scratchOf(dir), "bundle-"));
	const borrowed = join(room, "repository.git");
	try {
		await createBareRepository(borrowed, format, env);
		await writeFile(join(borrowed, "objects/info/alternates"), `${join(dir, "objects")}\n`);
		const lines = tips.toSorted((a, b) => a.ref < b.ref ? -1 : 1).map(({ ref, oid }) => `${oid} ${ref}\n`);
		await writeFile(join(borrowed, "packed-refs"), `# pack-refs with: sorted \n${lines.join("")}`);
		const git = gitRunner(localIsolation(borrowed, env));
		await git.run(bundleTask("create", file, "--all"));
		await git.run(bundleTask("verify", file));
	} finally {
		await rm(room, {
			recursive: true,
			force: true
		});
	}
}
function bundleTask(verb, file, ...what) {
	return {
		args: [
			"bundle",
			verb,
			"-q",
			file,
			...what
		],
		parse: () => void 0
	};
}
// src/verbs/removal.ts
/** Everything that is about to be removed, in a file that is whole or not there. */
async function saveRemains(call, remains, file) {
	const { env } = call.around;
	const around = {
		...call.around,
		remote: remains.remote
	};
	const tips = remains.branches.map(({ tip }) => tip);
	await atRepository({
		...call,
		around
	}, prefixesOf(remains)[0] ?? "", ({ repository }) => repository.fetch(tips));
	const { repositoryDir: dir, format } = remains;
	const part = `${file}.part`;
	await saveBundle({
		dir,
		format,
		tips,
		file: part,
		env
	});
	await rename(part, file);
}
function bundleName(place, now, local) {
	const date = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
	return `winnow-${basename(place).replace(/\.git$/, "").replaceAll(/[^\w.-]/g, "-")}${local ? "" : "-remote"}-${date}.bundle`;
}
/** The branches in the repository, then what this machine keeps; a second attempt goes on where one was killed. */
async function remove(call, remains) {
	const around = {
		...call.around,
		remote: remains.remote
	};
	for (const prefix of prefixesOf(remains)) await atRepository({
		...call,
		around
	}, prefix, async ({ repository }) => {
		await deleteBranches(repository, remains.branches.filter((each) => each.prefix === prefix));
	});
	await removeAll(remains.dataDir);
}
function prefixesOf({ branches }) {
	return [...new Set(branches.map(({ prefix }) => prefix))];
}
const MOST_AT_ONCE = 300;
const LEDGER = /-(?:state|closed|archive)\//;
/** Experiments first: as long as the ledger is there, what is left is known to be winnow's. */
async function deleteBranches(repository, branches) {
	const ordered = branches.toSorted((a, b) => Number(isLedger(a)) - Number(isLedger(b)));
	for (let at = 0; at < ordered.length; at += MOST_AT_ONCE) {
		const updates = ordered.slice(at, at + MOST_AT_ONCE).map(({ tip }) => ({
			ref: tip.ref,
			from: tip.oid,
			to: null
		}));
		const result = await repository.push(updates);
		if (result.ok) continue;
		if (result.reason === "lease") throw new ConflictError("branches moved while they were removed", result.refs);
		if (result.reason === "checked-out") throw new UserError(`${shortRef(result.ref)} is checked out in ${result.worktree}`, { fix: "check out another branch there, then winnow uninstall again" });
		throw new ForgeError("the remote does not let winnow remove its branches", { output: result.message });
	}
}
function isLedger({ prefix, tip }) {
	const name = shortRef(tip.ref);
	return LEDGER.test(name) || name.startsWith(`${prefix}/`);
}
/** How everything comes back. */
function restoreText({ local }, file, remoteName) {
	const path = /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`;
	if (local) return `git fetch ${path} 'refs/heads/*:refs/heads/*'`;
	return `git fetch ${path} 'refs/heads/*:refs/winnow-saved/*' && git push ${remoteName} 'refs/winnow-saved/*:refs/heads/*'`;
}
// src/verbs/uninstall.ts
const uninstall = {
	name: "uninstall",
	group: "more",
	summary: "list and remove everything winnow made, after saving it in one file",
	access: "apart",
	arguments: [],
	options: [
		{
			name: "purge",
			summary: "remove the files in .winnow and the lines in AGENTS.md as well"
		},
		{
			name: "save",
			value: "dir",
			summary: "where the saved file goes; else this directory"
		},
		{
			name: "dry-run",
			summary: "only list, and remove nothing"
		}
	],
	examples: [
		"winnow uninstall --dry-run",
		"winnow uninstall",
		"winnow uninstall --purge --save ~/backup"
	],
	exits: { 2: "a run is under way, or a branch is checked out: nothing was removed" },
	run: uninstalled
};
async function uninstalled(call) {
	const { around, given, terminal } = call;
	const checkout = await inspectCheckout(around.directory, around.env);
	const all = await everywhere(call, checkout);
	const files = ownFiles(checkout.topLevel);
	const purge = given.flag("purge");
	const dry = given.flag("dry-run");
	const listed = listText(all, files, purge);
	try {
		if (listed.length === 0) terminal.out("Nothing to remove.");
		else terminal.out(dry ? "Nothing was removed. It would be:" : "To remove:");
		for (const line of listed) terminal.out(`  ${line}`);
		for (const line of keptText(all, files, purge)) terminal.out(line);
		if (listed.length === 0 || dry) return 0;
		for (const remains of all) await requireIdle(call, remains);
		await removeAllOf(call, checkout, all);
		if (purge && checkout.topLevel !== null) await removeOwnFiles(checkout.topLevel, files);
		terminal.out(purge && ownFilesText(files).length > 0 ? "Removed. The files are gone from the work tree; commit that." : "Removed.");
		return 0;
	} finally {
		for (const { hadDataDir, dataDir } of all) if (!hadDataDir) await removeAll(dataDir);
	}
}
/** The remote, and the repository itself: campaigns may have been run without the remote as well. */
async function everywhere(call, { remotes }) {
	const { remote } = call.around;
	return [...remote === "none" || remotes.length === 0 && remote === null ? [] : [await remainsOf(call, remote)], await remainsOf(call, "none")];
}
function listText(all, files, purge) {
	return [...all.flatMap(remainsText), ...purge ? ownFilesText(files) : []];
}
function remainsText({ branches, local, hadDataDir, dataDir }) {
	const where = local ? "in this repository" : "in the remote";
	const names = branches.map(({ tip }) => shortRef(tip.ref));
	const experiments = names.filter((name) => /^[^/]+-exp\//.test(name));
	const others = names.filter((name) => !experiments.includes(name));
	return [...(experiments.length > 8 ? [...others, `branches of ${plural(experiments.length, "experiment")}`] : names).map((name) => `${name} ${where}`), ...hadDataDir ? [`${dataDir} on this machine`] : []];
}
function keptText(all, files, purge) {
	const own = purge ? [] : ownFilesText(files);
	return [...own.length === 0 ? [] : [`Kept: ${own.join(", ")} (--purge removes them)`], ...all.flatMap(({ left }) => left.map((name) => `Kept: branch ${name}, which no ledger of winnow claims`))];
}
/** What a living process writes after this would be the first thing that is left behind. */
async function requireIdle(call, remains) {
	const run = await presentRun(remains.dataDir);
	if (run !== null) throw new UserError(`campaign ${run.campaign} is run by process ${run.pid} on this machine; nothing was removed`, { fix: "end it (Ctrl-C), or winnow stop; then winnow uninstall again" });
	await endLeftoversBelow(remains.dataDir);
	await requireNotCheckedOut(call, remains);
}
async function removeAllOf(call, checkout, all) {
	const { around, given, terminal } = call;
	const directory = resolve(around.directory, given.text("save") ?? ".");
	if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw new UserError(`there is no directory ${directory}; nothing was removed`, { fix: "make it, or give another with --save" });
	const place = checkout.topLevel ?? dirname(checkout.commonDir);
	const remoteName = around.remote ?? checkout.remotes.find(({ name }) => name === "origin")?.name ?? checkout.remotes[0]?.name;
	for (const remains of all) {
		if (remains.branches.length === 0) continue;
		const file = join(directory, bundleName(basename(place), around.clock.now(), remains.local));
		await saveRemains(call, remains, file);
		terminal.out(`Saved and verified: ${file}`);
		terminal.out(`  to bring it back: ${restoreText(remains, file, remoteName ?? "origin")}`);
	}
	for (const remains of all) await remove(call, remains);
}
// src/verbs/registry.ts
/**
* The one list of verbs: the command line, its help, its page and shell completion are derived from it. Within a
* group, people read them in this order: first what is done first.
*/
const VERBS = [
	init,
	check,
	compare,
	tryDiff,
	run,
	demo,
	status,
	show,
	log,
	approve,
	pause,
	stop,
	tick,
	propose,
	idea,
	measure,
	decide,
	note,
	amend,
	revert,
	resume,
	archive,
	audit,
	replay,
	completion,
	uninstall,
	help,
	{
		name: "version",
		group: "more",
		summary: "print the version",
		access: "apart",
		arguments: [],
		options: [],
		examples: ["winnow version"],
		exits: {},
		async run({ terminal, around }) {
			terminal.out(around.version);
			return 0;
		}
	}
];
// src/cli/parse.ts
/** A command line against the registry: what is not in it is an error that names what was probably meant. */
function parseCommandLine(argv, verbs) {
	const at = verbAt(argv);
	const before = at === null ? argv : argv.slice(0, at);
	if (at === null) {
		if (before.includes("--version")) return {
			verb: verbNamed(verbs, "version"),
			given: givenOf([], /* @__PURE__ */ new Map())
		};
		read(before, GLOBAL_OPTIONS, "winnow");
		return {
			verb: verbNamed(verbs, "help"),
			given: givenOf([], /* @__PURE__ */ new Map())
		};
	}
	const verb = verbNamed(verbs, argv[at] ?? "");
	const { own, command } = apart(verb, [...before, ...argv.slice(at + 1)]);
	const { positionals, values } = read(own, optionsOf(verb), `winnow ${verb.name}`);
	if (values.has("help")) return {
		verb: verbNamed(verbs, "help"),
		given: givenOf([verb.name], values)
	};
	if (verb.command !== void 0) requireCommand(verb, verb.command, positionals, command);
	requireArguments(verb, positionals);
	return {
		verb,
		given: givenOf(positionals, values, command)
	};
}
/** A command of the person's own begins after the first `--`, and nothing in it is ours. */
function apart(verb, args) {
	const at = verb.command === void 0 ? -1 : args.indexOf("--");
	return at === -1 ? {
		own: args,
		command: []
	} : {
		own: args.slice(0, at),
		command: args.slice(at + 1)
	};
}
/** The first word that is neither an option nor an option's value. */
function verbAt(argv) {
	const { tokens } = parseArgs({
		args: [...argv],
		options: settings(GLOBAL_OPTIONS),
		...LENIENT
	});
	return tokens.find(({ kind }) => kind === "positional")?.index ?? null;
}
const LENIENT = {
	strict: false,
	allowPositionals: true,
	tokens: true
};
function settings(options) {
	return Object.fromEntries(options.map((option) => [option.name, {
		type: valueWord(option) === void 0 ? "boolean" : "string",
		...option.short === void 0 ? {} : { short: option.short }
	}]));
}
function read(args, options, command) {
	const { tokens } = parseArgs({
		args: [...args],
		options: settings(options),
		...LENIENT
	});
	const known = new Map(options.map((option) => [option.name, option]));
	const positionals = [];
	const values = /* @__PURE__ */ new Map();
	for (const token of tokens) {
		if (token.kind === "positional") positionals.push(token.value);
		if (token.kind !== "option") continue;
		const option = known.get(token.name) ?? unknownOption(token.rawName, options, command);
		const value = valueOf(option, token, command);
		const before = values.get(option.name) ?? [];
		if (before.length > 0 && valueWord(option) !== void 0 && option.many !== true) throw new UserError(`${token.rawName} is given twice`, { fix: "give it once" });
		values.set(option.name, [...before, value]);
	}
	return {
		positionals,
		values
	};
}
function valueOf(option, { rawName, value, inlineValue }, command) {
	const word = valueWord(option);
	if (word === void 0) {
		if (inlineValue !== true) return "";
		throw new UserError(`${rawName} takes no value`, { fix: `${command} ${rawName}` });
	}
	const looksLikeAnOption = inlineValue !== true && value !== void 0 && /^-./.test(value);
	if (value !== void 0 && value !== "" && !looksLikeAnOption) {
		requireListed(rawName, value, option.values);
		return value;
	}
	throw new UserError(`${rawName} needs a value`, { fix: looksLikeAnOption ? `write --${option.name}=${value} if that is its value` : `${command} ${rawName} <${word}>` });
}
function requireListed(what, value, values) {
	if (values === void 0 || values.includes(value)) return;
	const near = nearest(value, values);
	const listed = values.length === 1 ? values.join() : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
	throw new UserError(`${what} cannot be ${JSON.stringify(value)}`, { fix: near === void 0 ? `give ${listed}` : `did you mean ${near}? It can be ${listed}` });
}
function unknownOption(rawName, options, command) {
	const word = rawName.replace(/^-+/, "");
	const names = options.map(({ name }) => name);
	const near = word.length < 2 ? void 0 : nearest(word, names) ?? containing(word, names);
	throw new UserError(`${command} has no option ${rawName}`, { fix: near === void 0 ? `${command} --help lists them` : `did you mean --${near}?` });
}
function requireArguments(verb, positionals) {
	const missing = verb.arguments.find(({ required }, index) => required && (positionals[index] ?? "") === "");
	if (missing !== void 0) throw new UserError(`winnow ${verb.name} needs <${missing.name}>: ${withValues(missing)}`, { fix: usageText(verb) });
	for (const [index, { name, values }] of verb.arguments.entries()) {
		const given = positionals[index];
		if (given !== void 0) requireListed(`<${name}> of winnow ${verb.name}`, given, values);
	}
	const extra = positionals[verb.arguments.length];
	if (extra === void 0 || verb.arguments.at(-1)?.many === true) return;
	throw new UserError(`winnow ${verb.name} does not know what to do with ${JSON.stringify(extra)}`, { fix: usageText(verb) });
}
function requireCommand(verb, { name, summary }, positionals, command) {
	if (command.some((word) => word.trim() !== "")) return;
	const [first, ...words] = positionals;
	throw new UserError(`winnow ${verb.name} needs -- <${name}>: ${summary}`, { fix: words.length > 1 ? `did you mean winnow ${verb.name} ${first} -- ${words.join(" ")}?` : usageText(verb) });
}
function givenOf(positionals, values, command = []) {
	return {
		positionals,
		command,
		flag: (name) => values.has(name),
		text: (name) => values.get(name)?.[0],
		texts: (name) => values.get(name) ?? []
	};
}
// src/cli/print-error.ts
/** The one place where errors become words and an exit code. A stack is shown only when asked for. */
function printError(error, { err }, verbose) {
	for (const line of linesOf(error)) err(line);
	if (verbose && error instanceof Error) err(error.stack ?? "");
	return exitCodeOf(error);
}
function linesOf(error) {
	if (error instanceof SpecErrors) return specLines(error);
	if (error instanceof UserError) return [`error: ${located(error.place)}${error.message}`, ...fixLine(error.fix)];
	if (error instanceof ConflictError) return conflictLines(error);
	if (error instanceof ForgeError) return forgeLines(error);
	if (error instanceof HarnessError) return harnessLines(error);
	if (error instanceof LedgerError) return [`error: the ledger does not fit together: ${error.message}`, "  fix: winnow audit names everything that does not fit"];
	return [`error: internal: ${error instanceof Error ? error.message : String(error)}`, "  fix: this is a mistake in winnow; repeat with --verbose and report what it prints"];
}
function specLines({ problems, message }) {
	return [`error: the spec has ${problems.length === 1 ? "a mistake" : `${problems.length} mistakes`}`, ...message.split("\n").map((line) => `  ${line}`)];
}
function located({ file, line, column, path }) {
	const parts = [[
		file,
		line,
		column
	].filter((part) => part !== void 0).join(":"), path ?? ""].filter((part) => part !== "");
	return parts.length === 0 ? "" : `${parts.join(" ")}: `;
}
function fixLine(fix) {
	return fix === void 0 ? [] : [`  fix: ${fix}`];
}
function conflictLines({ message, refs }) {
	const moved = refs.length === 0 ? [] : [`  moved by somebody else: ${refs.join(", ")}`];
	return [
		`error: ${message}`,
		...moved,
		"  fix: nothing was written; try again"
	];
}
function forgeLines({ message, detail }) {
	const { status, requestId, rule, output } = detail;
	const facts = [
		["status", status === void 0 ? void 0 : String(status)],
		["request", requestId],
		["rule", rule]
	].flatMap(([name, value]) => value === void 0 ? [] : [`  ${name}: ${value}`]);
	const words = output === void 0 || message.includes(output) ? [] : quoted("the remote said", output);
	return [
		`error: ${message}`,
		...facts,
		...words
	];
}
function harnessLines({ message, detail }) {
	const { line, example, stderrTail, command, fix, printed = [] } = detail;
	return [
		`error: ${message}`,
		...line === void 0 ? [] : [`  in: ${line}`],
		...example === void 0 ? [] : [`  valid: ${example}`],
		...command === void 0 ? [] : [`  ran: ${command}`],
		...printed.length === 0 ? [] : quoted("it printed", printed.join("\n")),
		...stderrTail === void 0 || stderrTail.trim() === "" ? [] : quoted("it printed last", stderrTail),
		...fixLine(fix)
	];
}
const LINES = 15;
function quoted(title, text) {
	const lines = text.trimEnd().split("\n");
	return [
		`  ${title}:`,
		...lines.length > LINES ? ["    …"] : [],
		...lines.slice(-15).map((line) => `    ${line}`)
	];
}
// src/cli/faults.ts
/**
* For tests only: `WINNOW_FAULT=<point>:<n>` ends this process as `kill -9` would, the n-th time it gets there.
* Points have colons of their own, so the last one counts.
*/
function faultsFrom(setting) {
	if (setting === void 0 || setting === "") return { reach: () => {} };
	const [, point = "", count = ""] = /^(.+):([1-9]\d*)$/.exec(setting) ?? [];
	if (point === "") throw new UserError(`WINNOW_FAULT is ${JSON.stringify(setting)}`, { fix: "unset it; it is for tests and reads <point>:<n>" });
	let left = Number(count);
	return { reach(reached) {
		if (reached !== point) return;
		left -= 1;
		if (left === 0) process.kill(process.pid, "SIGKILL");
	} };
}
// src/cli/surroundings.ts
function surroundings(started, given, terminal) {
	const { env, version } = started;
	return {
		directory: directoryOf(started, given.text("directory")),
		env: withUserConfig(env),
		cacheDir: cacheDirOf(started, given.text("cache-dir")),
		machineDir: ownCacheDir(started) ?? cacheDirOf(started, given.text("cache-dir")),
		remote: given.text("remote") ?? null,
		by: {
			run_id: `cli:${started.pid}`,
			attempt: 1,
			actor: actorOf(env)
		},
		version,
		clock,
		random,
		faults: faultsFrom(env["WINNOW_FAULT"]),
		progress: { say: (line) => terminal.err(line) }
	};
}
function directoryOf({ directory }, given) {
	const meant = resolve(directory, given ?? ".");
	if (existsSync(meant)) return realpathSync(meant);
	throw new UserError(`there is no directory ${meant}`, {
		place: { file: meant },
		fix: "give another with -C"
	});
}
function cacheDirOf(started, given) {
	if (given !== void 0) return resolve(started.directory, given);
	const own = ownCacheDir(started);
	if (own !== null) return own;
	throw new UserError("winnow does not know where to keep its repository: HOME is not set", { fix: "set HOME or XDG_CACHE_HOME, or give --cache-dir" });
}
/** The same for every process of a user: there they also find each other. */
function ownCacheDir({ env }) {
	const { XDG_CACHE_HOME: cache, HOME: home } = env;
	if (cache !== void 0 && cache !== "") return resolve(cache, "winnow");
	return home !== void 0 && home !== "" ? resolve(home, ".cache", "winnow") : null;
}
/** Credentials and rewritten URLs of the person are used for the remote, and for nothing else. */
function withUserConfig(env) {
	const { HOME: home, GIT_CONFIG_GLOBAL: set } = env;
	if (set !== void 0 || home === void 0) return env;
	const elsewhere = join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "config");
	const file = [join(home, ".gitconfig"), elsewhere].find((each) => existsSync(each));
	return file === void 0 ? env : {
		...env,
		GIT_CONFIG_GLOBAL: file
	};
}
function actorOf({ USER, LOGNAME }) {
	return USER || LOGNAME || "unknown";
}
const clock = {
	now: () => Date.now(),
	monotonic: () => performance.now(),
	sleep: (milliseconds, signal) => new Promise((resolve) => {
		if (signal?.aborted === true) return resolve();
		const done = () => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, milliseconds);
		signal?.addEventListener("abort", done, { once: true });
	})
};
const random = {
	hex: (bytes) => randomBytes(bytes).toString("hex"),
	fraction: () => Math.random()
};
// src/cli/command.ts
const INTERRUPTED = 130;
const INSTALLED = {
	called: "winnow",
	runtime: "node"
};
/** One command from its arguments to its exit code; what a process adds is left to `main`. */
async function command(argv, started, terminal, interrupt) {
	const verbose = argv.includes("--verbose");
	try {
		const { verb, given } = parseCommandLine(argv, VERBS);
		const around = surroundings(started, given, terminal);
		const { program = INSTALLED } = started;
		return await verb.run({
			given,
			terminal,
			around,
			interrupt,
			verbs: VERBS,
			program
		});
	} catch (error) {
		if (!interrupt.aborted || verbose) return printError(error, terminal, verbose);
		terminal.err("The campaign is whole as of its last push: winnow run goes on from there.");
		return INTERRUPTED;
	}
}
// src/cli/interrupt.ts
/** The first Ctrl-C asks for an orderly end, the second does not wait for it. */
function interruption(tell) {
	const abort = new AbortController();
	const stop = () => {
		if (abort.signal.aborted) process.exit(130);
		tell("Interrupted: finishing the current write. Again to end at once.");
		abort.abort();
	};
	process.on("SIGINT", stop);
	process.on("SIGTERM", stop);
	return {
		signal: abort.signal,
		release() {
			process.off("SIGINT", stop);
			process.off("SIGTERM", stop);
		}
	};
}
// src/report/text-width.ts
/** Characters that take no column, or two; what is not known here takes one. */
const NONE = /[\p{Mn}\p{Me}\p{Cf}]/u;
const TWO = /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
/** How many columns of a terminal a line takes. */
function widthOf(line) {
	let width = 0;
	for (const character of line) width += columnsOf$1(character);
	return width;
}
/** The line, or as much of its beginning as fits, and a sign that there was more. */
function fitted(line, columns) {
	if (widthOf(line) <= columns) return line;
	let room = columns - 1;
	let kept = "";
	for (const character of line) {
		room -= columnsOf$1(character);
		if (room < 0) break;
		kept += character;
	}
	return columns < 1 ? "" : `${kept.trimEnd()}…`;
}
function columnsOf$1(character) {
	if (NONE.test(character)) return 0;
	return TWO.test(character) ? 2 : 1;
}
// src/cli/live-line.ts
const USUAL_COLUMNS = 80;
const LONGEST = 500;
/** Where nobody looks there is no such line, and no character that would move a cursor. */
function liveLine(screen) {
	if (screen === null) return {
		show: () => {},
		around: (print) => print()
	};
	let wanted = null;
	let drawn = 0;
	let columns = 0;
	function erase() {
		if (drawn === 0) return;
		const above = Math.ceil(drawn / columnsOf(screen)) - 1;
		screen?.write(`\r${above > 0 ? `\u001b[${above}A` : ""}\u001b[J`);
		drawn = 0;
	}
	function draw() {
		if (wanted === null) return;
		const line = fitted(wanted, columnsOf(screen) - 1);
		screen?.write(line);
		drawn = widthOf(line);
	}
	return {
		show(text) {
			const before = {
				wanted,
				columns
			};
			wanted = text === null ? null : oneLine(plainText(text), LONGEST);
			columns = columnsOf(screen);
			if (wanted === before.wanted && columns === before.columns) return;
			erase();
			draw();
		},
		around(print) {
			erase();
			print();
			draw();
		}
	};
}
function columnsOf(screen) {
	return screen?.columns || USUAL_COLUMNS;
}
function wantsLiveLine(stream, env) {
	return stream.isTTY === true && env["TERM"] !== "dumb" && (env["CI"] ?? "") === "";
}
// src/report/wrapped.ts
const HANG = 4;
/** A drawn bar is one word, spaces and all. */
const WORD$1 = /( *)(▕[^▏]*▏|\S+)/gu;
/**
* A line of a table or a sentence as lines that fit: broken between words, what is continued stands further in. A
* cell that fits whole on a line of its own gets one. A word that fits nowhere stays whole, to be copied.
*/
function wrapped(line, columns) {
	if (widthOf(line) <= columns) return [line];
	const indent = /^ */.exec(line)?.[0].length ?? 0;
	const inner = " ".repeat(Math.min(indent + HANG, Math.floor(columns / 2)));
	const lines = [];
	let current = " ".repeat(Math.min(indent, Math.floor(columns / 2)));
	let empty = true;
	for (const { gap, words } of cellsOf(line.slice(indent))) {
		const whole = words.join(" ");
		const ownLine = gap > 1 && widthOf(current) > columns / 2 && !fits(current, gap, whole) && fits(inner, 0, whole);
		for (const [at, word] of words.entries()) {
			const before = at === 0 ? Math.min(gap, 2) : 1;
			const next = ownLine && at === 0 || !empty && !fits(current, before, word);
			if (next) lines.push(current);
			current = next ? `${inner}${word}` : `${current}${empty ? "" : " ".repeat(before)}${word}`;
			empty = false;
		}
	}
	return [...lines, current];
	function fits(text, gap, more) {
		return widthOf(text) + Math.min(gap, 2) + widthOf(more) <= columns;
	}
}
/** Columns of a table are further apart than words. */
function cellsOf(text) {
	const cells = [];
	for (const [, spaces = "", word = ""] of text.matchAll(WORD$1)) {
		const last = cells.at(-1);
		if (last === void 0 || spaces.length > 1) cells.push({
			gap: spaces.length,
			words: [word]
		});
		else last.words.push(word);
	}
	return cells;
}
// src/cli/colour.ts
const COLOURS = {
	kept: 32,
	"kept, taken back": 33,
	"no gain": 33,
	worse: 31,
	"not proven": 33,
	refused: 35,
	broken: 31,
	error: 31,
	warning: 33
};
/** A verdict, or the kind of a message, where such a line has it: first, or after an experiment's number. */
const WORD = /^(\s*(?:exp-\d+\s+(?:#\d+\s+)?)?)(Kept, taken back|Kept|No gain|Worse|Not proven|Refused|Broken|error|warning)(?=[\s:.])/;
function painted(line, inColour) {
	if (!inColour) return line;
	return line.replace(WORD, (_all, before, word) => {
		return `${before}\u001b[${COLOURS[word.toLowerCase()]}m${word}\u001b[0m`;
	});
}
// src/cli/terminal.ts
/** Untrusted text is made plain first and coloured after: what is shown in colour is winnow's own. */
function terminal({ input, out, err, colour, live = null, obeyed = false, attended = false }) {
	const line = liveLine(live);
	const print = (stream, text) => line.around(() => void stream.write(`${text}\n`));
	const shown = (text, stream) => {
		return fittedTo(stream, obeyed ? withoutOrders(plainText(text)) : plainText(text));
	};
	const shownJson = (json) => obeyed ? jsonWithoutOrders(json) : json;
	return {
		out: (text) => print(out, painted(shown(text, out), colour.out)),
		err: (text) => print(err, painted(shown(text, err), colour.err)),
		json: (value, indent) => print(out, shownJson(plainJson(value, indent))),
		live: (text) => line.show(text),
		confirm: attended ? (question, interrupt) => confirmed({
			input,
			err
		}, question, interrupt) : null,
		lines: () => createInterface({
			input,
			crlfDelay: Number.POSITIVE_INFINITY
		})
	};
}
/** Only a person's terminal has a width; what reads along elsewhere gets lines as they are. */
function fittedTo(stream, text) {
	const { isTTY, columns = 0 } = stream;
	if (isTTY !== true || columns < NARROWEST) return text;
	return text.split("\n").flatMap((line) => wrapped(line, columns)).join("\n");
}
const NARROWEST = 20;
function wantsColour(stream, env) {
	return stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
/** Anything but a yes is a no: an empty line, an end of input, Ctrl-C. */
async function confirmed({ input, err }, question, interrupt) {
	err.write(`${plainText(question)} [y/N] `);
	const lines = createInterface({
		input,
		crlfDelay: Number.POSITIVE_INFINITY
	});
	const close = () => lines.close();
	interrupt.addEventListener("abort", close, { once: true });
	try {
		for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line);
		err.write("\n");
		return false;
	} finally {
		interrupt.removeEventListener("abort", close);
		lines.close();
	}
}
function isAttended(streams, env) {
	return streams.every(({ isTTY }) => isTTY === true) && (env["CI"] ?? "") === "";
}
// src/cli/version.ts
const VERSION = "0.1.0";
// src/cli/main.ts
/** A reader that went away (`winnow log | head`) wants no more, and no stack either. */
function endQuietly(error) {
	if ("code" in error && error.code === "EPIPE") process.exit(0);
	throw error;
}
async function main() {
	const env = Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => value === void 0 ? [] : [[name, value]]));
	const { stdin: input, stdout: out, stderr: err } = process;
	out.on("error", endQuietly);
	const colour = {
		out: wantsColour(out, env),
		err: wantsColour(err, env)
	};
	const live = wantsLiveLine(err, env) ? err : null;
	const [obeyed, attended] = [env["GITHUB_ACTIONS"] === "true", isAttended([input, err], env)];
	const words = terminal({
		input,
		out,
		err,
		colour,
		live,
		obeyed,
		attended
	});
	process.once("exit", () => words.live(null));
	if (process.platform === "win32") {
		words.err("error: winnow runs on Linux and macOS; on Windows use it inside WSL.");
		return 2;
	}
	const interrupted = interruption((line) => words.err(line));
	const program = {
		called: calledAs(process.argv[1] ?? "", env),
		runtime: process.execPath
	};
	const started = {
		env,
		directory: process.cwd(),
		pid: process.pid,
		version: VERSION,
		program
	};
	try {
		return await command(process.argv.slice(2), started, words, interrupted.signal);
	} finally {
		interrupted.release();
	}
}
process.exitCode = await main();
export {};
