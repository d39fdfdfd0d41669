import { readArtifactHistories, readArtifactText } from '../engine/campaign/artifacts.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { toSentenceCase } from '../model/text.ts'
import {
  type ArtifactHistory,
  type ArtifactVersion,
  renderArtifactHistory,
  renderArtifactTable,
} from '../report/artifacts.ts'
import { buildEpochViews, renderEpochViews } from '../report/epochs.ts'
import { describeNextTick } from '../report/resume-hint.ts'
import { buildRoundViews, renderRoundViews } from '../report/rounds.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import { changeCampaign, withCampaign } from './context.ts'
import { REASON } from './pause.ts'
import { readLedgerEvents } from './subjects.ts'
import type { Call, CommandContext, Verb } from './verb.ts'

export const inspectVerb: Verb = {
  name: 'inspect',
  group: 'more',
  summary: 'show every epoch or round, and the versions of the artifacts',
  access: 'read',
  options: [
    { name: 'artifact', value: 'name', summary: 'all versions of one artifact, with their differences' },
    { name: 'text', value: 'version', summary: 'print the text of this version of the artifact' },
  ],
  examples: [
    'winnow inspect',
    'winnow inspect --artifact worker_pitfalls',
    'winnow inspect --artifact worker_pitfalls --text 2',
  ],
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async context => {
      const name = call.given.text('artifact')
      if (name !== undefined) return inspectArtifact(call, context, name)
      if (call.given.text('text') !== undefined)
        throw new UserError('--text needs an artifact', {
          fix: 'winnow inspect --artifact <name> --text <version>',
        })
      return inspectCampaign(call, context)
    }),
}

async function inspectCampaign({ given, terminal }: Call, context: CommandContext): Promise<number> {
  const { loaded, spec } = await requireCampaign(context.campaignContext)
  const histories = await readHistories(context)
  const { campaign } = loaded
  const rounds = buildRoundViews(campaign, spec)
  const epochs = buildEpochViews(campaign, spec, histories)
  if (given.flag('json')) {
    terminal.json({ campaign: campaign.name, epochs, rounds, artifacts: histories })
    return 0
  }
  const { name } = spec.metric.primary
  const lines = [
    ...(epochs.length === 0 ? [] : [...renderEpochViews(epochs, name), '']),
    ...(rounds.length === 0 ? ['No round was measured yet.'] : renderRoundViews(rounds, name)),
  ]
  for (const line of lines) terminal.out(line)
  if (histories.length > 0) for (const line of ['', ...renderArtifactTable(histories)]) terminal.out(line)
  return 0
}

async function inspectArtifact(
  { given, terminal }: Call,
  context: CommandContext,
  name: string,
): Promise<number> {
  const { repository } = context.campaignContext
  const history = findNamedArtifact(await readHistories(context), name)
  const version = given.text('text')
  if (version !== undefined) {
    const found = findNamedVersion(history, version)
    const text = await readArtifactText(repository, found.blob)
    if (given.flag('json')) terminal.json({ artifact: name, version: found.version, text })
    else for (const line of text.replace(/\n$/, '').split('\n')) terminal.out(line)
    return 0
  }
  const diffs = new Map<number, string>()
  for (const each of history.versions) diffs.set(each.version, await readVersionDiff(context, history, each))
  if (given.flag('json')) {
    const versions = history.versions.map(each => ({ ...each, diff: diffs.get(each.version) ?? '' }))
    terminal.json({ ...history, versions })
  } else for (const line of renderArtifactHistory(history, diffs)) terminal.out(line)
  return 0
}

/** Fetches the optimize branch, which contains every version. */
export async function readHistories(context: CommandContext): Promise<ArtifactHistory[]> {
  const { campaignContext } = context
  const { repository, refs } = campaignContext
  const { loaded, spec } = await requireCampaign(campaignContext)
  const oid = (await repository.remoteRefs([refs.optimize])).refs.get(refs.optimize)
  if (oid !== undefined) await repository.fetch([{ ref: refs.optimize, oid }])
  const { campaign } = loaded
  return readArtifactHistories(repository, { campaign, spec }, readLedgerEvents(campaignContext))
}

async function readVersionDiff(
  { campaignContext: { repository } }: CommandContext,
  { path, versions }: ArtifactHistory,
  { parent, blob }: ArtifactVersion,
): Promise<string> {
  const before = parent === null ? undefined : versions[parent]
  if (before === undefined) return ''
  const [from, to] = await Promise.all(
    [before.blob, blob].map(oid =>
      repository.replaceEntries(repository.emptyTree, [
        { path, entry: oid === null ? null : { mode: '100644', oid } },
      ]),
    ),
  )
  return from === undefined || to === undefined ? '' : repository.patchBetween(from, to)
}

function findNamedArtifact(histories: readonly ArtifactHistory[], given: string): ArtifactHistory {
  const found = histories.find(({ name }) => name === given)
  if (found !== undefined) return found
  const names = histories.map(({ name }) => name)
  throw new UserError(`the campaign has no artifact ${given}`, {
    fix: suggestWord(
      given,
      names,
      names.length === 0 ? 'add artifacts to the spec' : `it has ${names.join(', ')}`,
    ),
  })
}

/** Accepts 2 and v2. */
function findNamedVersion({ name, versions }: ArtifactHistory, given: string): ArtifactVersion {
  const found = /^v?\d+$/.test(given) ? versions[Number(given.replace('v', ''))] : undefined
  if (found !== undefined) return found
  throw new UserError(`${name} has no version ${given}`, {
    fix: versions.length === 1 ? 'it has only version 0' : `it has the versions 0 to ${versions.length - 1}`,
  })
}

export const rollbackVerb: Verb = {
  name: 'rollback',
  group: 'more',
  summary: 'return an artifact to an earlier version; winnow measures the result',
  access: 'write',
  arguments: [
    { name: 'artifact', summary: 'its name in the spec', required: true },
    { name: 'version', summary: 'the version to return to; 0 is the start', required: true },
  ],
  options: [REASON],
  examples: ['winnow rollback worker_pitfalls 2', 'winnow rollback worker_pitfalls 0 -m "too long"'],
  run: call =>
    changeCampaign(call, async (context, campaign) => {
      const [name = '', given = ''] = call.given.positionals
      const history = findNamedArtifact(await readHistories(context), name)
      const { version, blob } = findNamedVersion(history, given)
      const { path, current } = history
      if (version === current) return call.terminal.out(`v${version} of ${name} is in force already.`)
      const pending = campaign.restores.find(({ artifact }) => artifact === name)
      if (pending !== undefined)
        throw new UserError(`the return of ${name} to v${pending.version} was requested already`, {
          fix: `wait: ${describeNextTick(campaign)} measures it`,
        })
      const reason = call.given.text('message') ?? `requested by ${context.campaignContext.by.actor}`
      const restores = { artifact: name, version, path, blob }
      await recordEvents(context.campaignContext, [
        { kind: 'steered', action: 'restore', experiment: null, reason, restores },
      ])
      if (context.dryRun !== null) return
      const when =
        campaign.status === 'running'
          ? `${toSentenceCase(describeNextTick(campaign))} measures`
          : `Campaign ${campaign.name} is ${campaign.status}: after winnow resume, winnow measures`
      call.terminal.out(`Recorded. ${when} ${name} v${version}, and returns to it if every gate passes.`)
    }),
}
