import { describe, expect, it } from 'vitest'
import { getArtifactFileName, getArtifactName } from '../../src/model/job-file.ts'
import { letters } from '../support/size-repository.ts'
import { diffOf, proven } from '../support/repository.ts'
import { type ActionsRepository, createActionsRepository, type Wake } from './actions-repository.ts'
import type { RunRecord } from './emulator/world.ts'
import { uploadFile, waitingRuns } from './measuring-job.ts'
import { WORKFLOW_FILE } from './tick-job.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const THINKER = '{ use: command, command: think, name: thinker }'
const SERIAL = `propose: [${THINKER}]\nmerge: { forgeable: allow }\nexecution: { mode: serial }`
const SHORTER = diffOf('src/a.txt', letters('a', 15), letters('a', 3))
const HOUR = 3_600_000
const ASKS = { propose: true }

function runUnderWay({ github: { world }, scene }: ActionsRepository, id: number): RunRecord {
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
  const testRepository = await createActionsRepository(ideas, {
    spec: text => text.replace(/propose: .*/, propose),
  })
  const here = await testRepository.openClient()
  await here.start()
  runUnderWay(testRepository, 1)
  while ((await testRepository.wake({ run: 1, next: ASKS })).for === 'orders') await testRepository.machines()
  /** What the job of a run would answer, which its tick has asked for unless it has already. */
  async function asks(run: number) {
    runUnderWay(testRepository, run)
    await testRepository.wake({ run, next: ASKS })
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
  return Object.assign(testRepository, {
    ...(await asks(1)),
    asks,
    here,
    told: () => testRepository.said.join('\n'),
    kinds: async (...wanted: string[]) => (await here.events()).filter(({ kind }) => wanted.includes(kind)),
    /** Everything but the ledger itself. */
    branches: () =>
      testRepository.repository.git('ls-remote', testRepository.github.bare).replaceAll(/.*-state.*/g, ''),
  })
}
type Asked = Awaited<ReturnType<typeof asked>>

/** The settling job of a run whose propose job left this, once however often it settles; null: nothing. */
function settle(testRepository: Asked, content: unknown, { run = 1, ...wake }: Wake = {}) {
  const record = runUnderWay(testRepository, run)
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const file = { name: getArtifactName('answers'), file: getArtifactFileName('answers'), text }
  const left =
    digests.get(record) ?? (content === null ? null : uploadFile(testRepository.github, record, file))
  if (left !== null) digests.set(record, left)
  const proposed = { status: left === null ? 'failure' : 'success', digest: left }
  return testRepository.settleOf(record, { proposed }, wake)
}
const digests = new Map<object, string>()

describe('answers of the run that asked', () => {
  it('are taken in once, however often the run is done again and wherever it is killed', async () => {
    const testRepository = await asked()
    const file = testRepository.file()
    for (const point of ['before:commit', 'commit:after-push', 'before:github']) {
      const fault = (reached: string) => {
        if (reached === point) throw new Error('killed')
      }
      await expect(settle(testRepository, file, { fault })).rejects.toThrow('killed')
    }
    await Promise.all([settle(testRepository, file), settle(testRepository, file)])
    await testRepository.machines()
    await settle(testRepository, file, { run: 2 })
    const once = ['proposal-requested', 'proposal-answered', 'spent', 'experiment-opened']
    expect((await testRepository.kinds(...once)).map(({ kind }) => kind)).toEqual(once)
    expect(await testRepository.here.outcomes()).toEqual({ 'three do': 'kept' })
    expect((await testRepository.here.campaign()).proposal_requests).toEqual({})
    await proven(testRepository.here.place)
  })

  releaseTest('wait in the ledger while the campaign is paused; whoever goes on opens them', async () => {
    const testRepository = await asked()
    await testRepository.here.person({ kind: 'campaign-paused', reason: 'lunch', source: 'person' })
    await settle(testRepository, testRepository.file())
    expect(await testRepository.kinds('spent')).toMatchObject([
      { who: 'thinker', ok: true, cause: testRepository.key },
    ])
    expect(await testRepository.kinds('experiment-opened')).toEqual([])
    await testRepository.here.person({ kind: 'campaign-resumed', reason: 'back' })
    await testRepository.settle()
    expect(await testRepository.here.outcomes()).toEqual({ 'three do': 'kept' })
    expect((await testRepository.here.experiment('three do')).source).toEqual({
      use: 'command',
      key: testRepository.key,
    })
    await proven(testRepository.here.place)
  })

  releaseTest(
    'that never come hold nobody up: what is queued is measured, and later somebody is asked again',
    async () => {
      const testRepository = await asked(
        [],
        `propose: [${THINKER}, { use: external }]\nmerge: { forgeable: allow }`,
      )
      const { scene, ada } = testRepository
      expect(await testRepository.kinds('proposal-requested')).toHaveLength(4)
      scene.commit('mine', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
      await scene.ask(ada, 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
      expect(await testRepository.wake({ run: 2, next: ASKS })).toMatchObject({ for: 'proposers' })
      expect(await settle(testRepository, null)).toMatchObject({ for: 'orders' })
      expect(testRepository.told()).toContain('its job ended (failure) and left no answers')
      expect(await testRepository.kinds('proposal-lost')).toHaveLength(4)
      expect((await testRepository.here.campaign()).proposers).toEqual({})
      await testRepository.machines()
      await testRepository.wake({ run: 3, next: ASKS })
      expect(await testRepository.here.outcomes()).toEqual({ mine: 'kept' })
      const runs = (await testRepository.kinds('proposal-requested')).map(({ by }) => by.run_id)
      expect(new Set(runs)).toEqual(new Set(['actions:1', 'actions:3']))
    },
  )

  releaseTest(
    'start the next run where one is an idea or their job broke, and none where there was no idea',
    async () => {
      for (const came of ['idea', 'nothing', 'broken']) {
        const testRepository = await asked()
        const { github } = testRepository
        const failed = { ok: false, reason: 'nothing comes to mind' }
        const { key, who } = testRepository.file().entries[0] ?? {}
        const nothing = testRepository.file({ entries: [{ key, who, minutes: 1, ...failed }] })
        const answer = { idea: testRepository.file(), nothing, broken: null }[came] ?? null
        await settle(testRepository, answer, { has: ASKS })
        const waiting = waitingRuns(github).map(({ title, branch }) => ({ title, branch }))
        const titles = came === 'idea' ? ['measure exp-001'] : came === 'broken' ? ['look for work'] : []
        expect(waiting).toEqual(titles.map(title => ({ title: `size: ${title}`, branch: 'optimize/size' })))
        expect(await testRepository.kinds('proposal-requested')).toHaveLength(1)
      }
    },
  )

  releaseTest('are not waited for longer than their job may take', async () => {
    const testRepository = await asked()
    expect(await testRepository.wake({ run: 2, ahead: HOUR, next: ASKS })).toMatchObject({ for: 'proposers' })
    await testRepository.wake({ run: 2, ahead: 3 * HOUR, next: ASKS })
    expect(await testRepository.kinds('proposal-lost')).toMatchObject([{ key: testRepository.key }])
    await settle(testRepository, testRepository.file(), { ahead: 3 * HOUR })
    expect(await testRepository.kinds('spent', 'experiment-opened')).toEqual([])
  })

  releaseTest('are lost once its run has ended, and the next one asks again and blames nobody', async () => {
    const testRepository = await asked()
    testRepository.github.finish(runUnderWay(testRepository, 1), 'failure')
    expect(await testRepository.wake({ run: 2, next: ASKS })).toMatchObject({ for: 'proposers' })
    expect(await testRepository.kinds('proposal-lost')).toMatchObject([
      { key: testRepository.key, reason: 'workflow run 1 ended (failure) before winnow recorded its answer' },
    ])
    expect((await testRepository.here.campaign()).proposers).toEqual({})
    await settle(testRepository, (await testRepository.asks(2)).file(), { run: 2 })
    await testRepository.machines()
    expect(await testRepository.here.outcomes()).toEqual({ 'three do': 'kept' })
    await proven(testRepository.here.place)
  })

  releaseTest('are kept where a rule of the repository refuses the branch of their experiment', async () => {
    const testRepository = await asked()
    testRepository.github.protect('optimize-exp/size/exp-001')
    await settle(testRepository, testRepository.file())
    expect(await testRepository.here.campaign()).toMatchObject({ status: 'paused', experiments: {} })
    expect((await testRepository.kinds('proposal-answered', 'spent')).map(({ kind }) => kind)).toEqual([
      'proposal-answered',
      'spent',
    ])
    testRepository.github.protect()
    await testRepository.here.person({ kind: 'campaign-resumed', reason: 'mended' })
    await testRepository.settle()
    expect(await testRepository.here.outcomes()).toEqual({ 'three do': 'kept' })
    await proven(testRepository.here.place)
  })

  releaseTest('cannot cost more than there was time', async () => {
    const testRepository = await asked()
    await settle(testRepository, testRepository.answering({ minutes: 1e9 }))
    const { spent } = await testRepository.here.campaign()
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
  releaseTest('are not taken, and cost their proposer nothing', async () => {
    const testRepository = await asked()
    const before = testRepository.branches()
    let run = 1
    for (const [name, [forge, said]] of Object.entries(FORGED)) {
      const given = await testRepository.asks(run)
      expect(await settle(testRepository, forge(given), { run })).toEqual({ for: 'ideas' })
      expect([name, testRepository.told()]).toEqual([name, expect.stringContaining(said)])
      run += 1
      // Otherwise the next one would rest after three in a row.
      await testRepository.here.person({ kind: 'campaign-resumed', reason: `looked at ${name}` })
    }
    expect(await testRepository.kinds('proposal-lost')).toHaveLength(Object.keys(FORGED).length)
    expect(await testRepository.kinds('spent', 'proposal-answered', 'experiment-opened')).toEqual([])
    expect(testRepository.branches()).toBe(before)
    await proven(testRepository.here.place)
  })

  it.each(selectCases(Object.entries(USELESS)))(
    'are a failure of their proposer where their patch is %s',
    async (_, [patch, said]) => {
      const testRepository = await asked()
      await settle(testRepository, testRepository.answering({ patch }))
      expect(testRepository.told()).toContain(said)
      expect((await testRepository.here.campaign()).proposers).toMatchObject({ thinker: { failures: 1 } })
      const spent = await testRepository.kinds('spent', 'proposal-answered', 'experiment-opened')
      expect(spent).toMatchObject([{ kind: 'spent', ok: false }])
      await proven(testRepository.here.place)
    },
  )

  it.each(selectCases(REFUSED))(
    'are refused before they are a branch where their patch changes %s',
    async (path, why) => {
      const testRepository = await asked()
      const hypothesis = 'fixes #1 @everyone\n::set-output name=x::y ##[add-mask]z'
      await settle(testRepository, testRepository.answering({ patch: adding(path), hypothesis }))
      const { experiments, proposers, status } = await testRepository.here.campaign()
      const experiment = Object.values(experiments).at(-1)
      expect(experiment).toMatchObject({ outcome: 'refused', reason: why })
      expect(experiment?.hypothesis).not.toContain('\n')
      expect([status, proposers]).toMatchObject(['running', { thinker: { failures: 1 } }])
      expect(testRepository.branches()).not.toContain('optimize-exp')
      await proven(testRepository.here.place)
    },
  )
})
