import { describe, expect, it } from 'vitest'
import { getArtifactFileName, getArtifactName } from '../../src/model/job-file.ts'
import { letters } from '../engine/size-yard.ts'
import { diffOf, proven } from '../engine/yard.ts'
import { type ActionsYard, actionsYard, type Wake } from './actions-yard.ts'
import type { RunRecord } from './emulator/world.ts'
import { uploadFile, waitingRuns } from './measuring-job.ts'
import { WORKFLOW_FILE } from './tick-job.ts'

const THINKER = '{ use: command, command: think, name: thinker }'
const SERIAL = `propose: [${THINKER}]\nexecution: { mode: serial }`
const SHORTER = diffOf('src/a.txt', letters('a', 15), letters('a', 3))
const HOUR = 3_600_000
const ASKS = { propose: true }

function runUnderWay({ github: { world }, scene }: ActionsYard, id: number): RunRecord {
  const known = world.runs.find(each => each.id === id)
  if (known) return known
  const made = { path: WORKFLOW_FILE, name: 'winnow', title: 'asks', event: 'schedule', branch: 'main' }
  const head = scene.tip('main')
  const createdAt = '2026-01-01T00:00:00Z'
  const record = { id, ...made, head, status: 'in_progress', conclusion: null, createdAt, actor: 'ada' }
  world.runs.push(record)
  return record
}

/** A campaign on GitHub whose run 1 has asked the thinker, and what its job would answer. */
async function asked(ideas: readonly string[] = [], propose = SERIAL) {
  const yard = await actionsYard(ideas, { spec: text => text.replace(/propose: .*/, propose) })
  const here = await yard.post()
  await here.start()
  runUnderWay(yard, 1)
  while ((await yard.wake({ run: 1, next: ASKS })).for === 'orders') await yard.machines()
  /** What the job of a run would answer, which its tick has asked for unless it has already. */
  async function asks(run: number) {
    runUnderWay(yard, run)
    await yard.wake({ run, next: ASKS })
    const { proposal_requests: askings } = await here.campaign()
    const [asking] = Object.values(askings)
    if (asking === undefined) throw new Error('nobody was asked')
    const { key, who, base } = asking
    const answer = {
      key,
      who,
      minutes: 2,
      ok: true,
      base: base.commit,
      hypothesis: 'three do',
      category: 'letters',
      priority: 'medium',
      required_deps: [],
      family: null,
      learnings: 'letters cost',
      patch: SHORTER,
    }
    const head = { winnow: 1, content: 'answers', run: `actions:${run}/1` }
    const file = (more: object = {}) => ({ ...head, entries: [answer], ...more })
    return { key, file, answering: (more: object) => file({ entries: [{ ...answer, ...more }] }) }
  }
  return Object.assign(yard, {
    ...(await asks(1)),
    asks,
    here,
    told: () => yard.said.join('\n'),
    kinds: async (...wanted: string[]) => (await here.events()).filter(({ kind }) => wanted.includes(kind)),
    /** Everything but the ledger itself. */
    branches: () => yard.yard.git('ls-remote', yard.github.bare).replaceAll(/.*-state.*/g, ''),
  })
}
type Asked = Awaited<ReturnType<typeof asked>>

/** The settling job of a run whose propose job left this, once however often it settles; null: nothing. */
function settle(yard: Asked, content: unknown, { run = 1, ...wake }: Wake = {}) {
  const record = runUnderWay(yard, run)
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const file = { name: getArtifactName('answers'), file: getArtifactFileName('answers'), text }
  const left = digests.get(record) ?? (content === null ? null : uploadFile(yard.github, record, file))
  if (left !== null) digests.set(record, left)
  const proposed = { status: left === null ? 'failure' : 'success', digest: left }
  return yard.settleOf(record, { proposed }, wake)
}
const digests = new Map<object, string>()

describe('answers of the run that asked', () => {
  it('are taken in once, however often the run is done again and wherever it is killed', async () => {
    const yard = await asked()
    const file = yard.file()
    for (const point of ['before:commit', 'commit:after-push', 'before:pulls']) {
      const fault = (reached: string) => {
        if (reached === point) throw new Error('killed')
      }
      await expect(settle(yard, file, { fault })).rejects.toThrow('killed')
    }
    await Promise.all([settle(yard, file), settle(yard, file)])
    await yard.machines()
    await settle(yard, file, { run: 2 })
    const once = ['proposal-requested', 'proposal-answered', 'spent', 'experiment-opened']
    expect((await yard.kinds(...once)).map(({ kind }) => kind)).toEqual(once)
    expect(await yard.here.outcomes()).toEqual({ 'three do': 'kept' })
    expect((await yard.here.campaign()).proposal_requests).toEqual({})
    await proven(yard.here.place)
  })

  it('wait in the ledger while the campaign is paused; whoever goes on opens them', async () => {
    const yard = await asked()
    await yard.here.person({ kind: 'campaign-paused', reason: 'lunch', source: 'person' })
    await settle(yard, yard.file())
    expect(await yard.kinds('spent')).toMatchObject([{ who: 'thinker', ok: true, cause: yard.key }])
    expect(await yard.kinds('experiment-opened')).toEqual([])
    await yard.here.person({ kind: 'campaign-resumed', reason: 'back' })
    await yard.settle()
    expect(await yard.here.outcomes()).toEqual({ 'three do': 'kept' })
    expect((await yard.here.experiment('three do')).source).toEqual({ use: 'command', key: yard.key })
    await proven(yard.here.place)
  })

  it('that never come hold nobody up: what is queued is measured, and later somebody is asked again', async () => {
    const yard = await asked([], `propose: [${THINKER}, { use: external }]`)
    const { scene, ada } = yard
    expect(await yard.kinds('proposal-requested')).toHaveLength(4)
    scene.commit('mine', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
    await scene.ask(ada, 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
    expect(await yard.wake({ run: 2, next: ASKS })).toMatchObject({ for: 'proposers' })
    expect(await settle(yard, null)).toMatchObject({ for: 'orders' })
    expect(yard.told()).toContain('its job ended (failure) and left no answers')
    expect(await yard.kinds('proposal-lost')).toHaveLength(4)
    expect((await yard.here.campaign()).proposers).toEqual({})
    await yard.machines()
    await yard.wake({ run: 3, next: ASKS })
    expect(await yard.here.outcomes()).toEqual({ mine: 'kept' })
    const runs = (await yard.kinds('proposal-requested')).map(({ by }) => by.run_id)
    expect(new Set(runs)).toEqual(new Set(['actions:1', 'actions:3']))
  })

  it('start the next run where one is an idea or their job broke, and none where there was no idea', async () => {
    for (const came of ['idea', 'nothing', 'broken']) {
      const yard = await asked()
      const { github } = yard
      const failed = { ok: false, reason: 'nothing comes to mind' }
      const { key, who } = yard.file().entries[0] ?? {}
      const nothing = yard.file({ entries: [{ key, who, minutes: 1, ...failed }] })
      const answer = { idea: yard.file(), nothing, broken: null }[came] ?? null
      await settle(yard, answer, { has: ASKS })
      const waiting = waitingRuns(github).map(({ title, branch }) => ({ title, branch }))
      const titles = came === 'idea' ? ['measure exp-001'] : came === 'broken' ? ['look for work'] : []
      expect(waiting).toEqual(titles.map(title => ({ title: `size: ${title}`, branch: 'optimize/size' })))
      expect(await yard.kinds('proposal-requested')).toHaveLength(1)
    }
  })

  it('are not waited for longer than their job may take', async () => {
    const yard = await asked()
    expect(await yard.wake({ run: 2, ahead: HOUR, next: ASKS })).toMatchObject({ for: 'proposers' })
    await yard.wake({ run: 2, ahead: 3 * HOUR, next: ASKS })
    expect(await yard.kinds('proposal-lost')).toMatchObject([{ key: yard.key }])
    await settle(yard, yard.file(), { ahead: 3 * HOUR })
    expect(await yard.kinds('spent', 'experiment-opened')).toEqual([])
  })

  it('are lost once its run has ended, and the next one asks again and blames nobody', async () => {
    const yard = await asked()
    yard.github.finish(runUnderWay(yard, 1), 'failure')
    expect(await yard.wake({ run: 2, next: ASKS })).toMatchObject({ for: 'proposers' })
    expect(await yard.kinds('proposal-lost')).toMatchObject([
      { key: yard.key, reason: 'workflow run 1 ended (failure) and its answer was not recorded' },
    ])
    expect((await yard.here.campaign()).proposers).toEqual({})
    await settle(yard, (await yard.asks(2)).file(), { run: 2 })
    await yard.machines()
    expect(await yard.here.outcomes()).toEqual({ 'three do': 'kept' })
    await proven(yard.here.place)
  })

  it('are kept where a rule of the repository refuses the branch of their experiment', async () => {
    const yard = await asked()
    yard.github.protect('optimize-exp/size/exp-001')
    await settle(yard, yard.file())
    expect(await yard.here.campaign()).toMatchObject({ status: 'paused', experiments: {} })
    expect((await yard.kinds('proposal-answered', 'spent')).map(({ kind }) => kind)).toEqual([
      'proposal-answered',
      'spent',
    ])
    yard.github.protect()
    await yard.here.person({ kind: 'campaign-resumed', reason: 'mended' })
    await yard.settle()
    expect(await yard.here.outcomes()).toEqual({ 'three do': 'kept' })
    await proven(yard.here.place)
  })

  it('cannot cost more than there was time', async () => {
    const yard = await asked()
    await settle(yard, yard.answering({ minutes: 1e9 }))
    const { spent } = await yard.here.campaign()
    expect(spent.minutes).toBeLessThan(60)
  })
})

const text = (length: number) => 'x'.repeat(length)
const adding = (path: string) => diffOf(path, null, 'evil\n')

/** What hands that a model steers could leave in the place of answers, and what is said of it. */
const FORGED: Readonly<
  Record<string, readonly [(given: Pick<Asked, 'file' | 'answering'>) => unknown, string]>
> = {
  'another run': [({ file }) => file({ run: 'actions:0/1' }), 'the file of answers is from run actions:0/1'],
  'other content': [({ file }) => file({ content: 'scores' }), 'content: '],
  'an asking that is nobody’s': [
    ({ answering }) => answering({ key: 'command:thinker:0' }),
    'its job gave no answer',
  ],
  'somebody else’s name': [({ answering }) => answering({ who: 'eve' }), 'the answer is from eve'],
  'another base': [({ answering }) => answering({ base: 'a'.repeat(40) }), 'the answer changes aaaa'],
  'ten megabytes': [
    ({ answering }) => answering({ hypothesis: text(10_000_000) }),
    'larger than 4194304 bytes',
  ],
  'a long hypothesis': [({ answering }) => answering({ hypothesis: text(20_000) }), 'entries.0.hypothesis: '],
  'a long patch': [({ answering }) => answering({ patch: text(1_100_000) }), 'entries.0.patch: '],
  'the same asking twice': [
    ({ file }) => file({ entries: [file().entries[0], file().entries[0]] }),
    'two entries have one key',
  ],
  'more than is asked for': [({ answering }) => answering({ merge: true }), 'entries.0: Unrecognized key'],
  'a cost below nothing': [({ answering }) => answering({ minutes: -1 }), 'entries.0.minutes: '],
  'a binary change without end': [
    ({ answering }) => answering({ patch: 'GIT binary patch\nliteral 99999999999\n' }),
    'its unpacked content is too large',
  ],
  'no JSON': [() => '::set-output name=x::y', 'the file of answers holds no JSON'],
  nothing: [() => '', 'the file of answers holds no JSON'],
}

/** Changes that cannot be made, or whose proposer said that it has none. */
const USELESS: Readonly<Record<string, readonly [patch: string, string]>> = {
  'a way out of the repository': [adding('../../outside'), 'is not a path a patch may change'],
  'the repository’s own folder': [adding('.git/hooks/post-checkout'), 'is not a path a patch may change'],
  'other lines': [diffOf('src/a.txt', letters('z', 15), 'z\n'), 'src/a.txt does not match at line 1'],
  nothing: ['', 'git finds no change in it'],
}

/** A workflow, a spec, the harness. */
const REFUSED = ['.github/workflows/evil.yml', '.winnow/other.yaml', 'bench/more.sh'].map(
  path => [path, `changes 1 file outside scope.mutable: ${path}`] as const,
)

describe('answers that somebody forged', () => {
  it('are not taken, and cost their proposer nothing', async () => {
    const yard = await asked()
    const before = yard.branches()
    let run = 1
    for (const [name, [forge, said]] of Object.entries(FORGED)) {
      const given = await yard.asks(run)
      expect(await settle(yard, forge(given), { run })).toEqual({ for: 'ideas' })
      expect([name, yard.told()]).toEqual([name, expect.stringContaining(said)])
      run += 1
      // Otherwise the next one would rest after three in a row.
      await yard.here.person({ kind: 'campaign-resumed', reason: `looked at ${name}` })
    }
    expect(await yard.kinds('proposal-lost')).toHaveLength(Object.keys(FORGED).length)
    expect(await yard.kinds('spent', 'proposal-answered', 'experiment-opened')).toEqual([])
    expect(yard.branches()).toBe(before)
    await proven(yard.here.place)
  })

  it.each(Object.entries(USELESS))(
    'are a failure of their proposer where their patch is %s',
    async (_, [patch, said]) => {
      const yard = await asked()
      await settle(yard, yard.answering({ patch }))
      expect(yard.told()).toContain(said)
      expect((await yard.here.campaign()).proposers).toMatchObject({ thinker: { failures: 1 } })
      const spent = await yard.kinds('spent', 'proposal-answered', 'experiment-opened')
      expect(spent).toMatchObject([{ kind: 'spent', ok: false }])
      await proven(yard.here.place)
    },
  )

  it.each(REFUSED)('are refused before they are a branch where their patch changes %s', async (path, why) => {
    const yard = await asked()
    const hypothesis = 'fixes #1 @everyone\n::set-output name=x::y ##[add-mask]z'
    await settle(yard, yard.answering({ patch: adding(path), hypothesis }))
    const { experiments, proposers, status } = await yard.here.campaign()
    const experiment = Object.values(experiments).at(-1)
    expect(experiment).toMatchObject({ outcome: 'refused', reason: why })
    expect(experiment?.hypothesis).not.toContain('\n')
    expect([status, proposers]).toMatchObject(['running', { thinker: { failures: 1 } }])
    expect(yard.branches()).not.toContain('optimize-exp')
    await proven(yard.here.place)
  })
})
