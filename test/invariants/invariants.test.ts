import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isGatePassed } from '../../src/decide/metrics.ts'
import { replayLedger } from '../../src/engine/verify/audit.ts'
import { requireCampaign } from '../../src/engine/controller/run.ts'
import { isAllowedRef } from '../../src/git/push.ts'
import { drawTurns, isFollowingCoins } from '../../src/model/order.ts'
import { toFinite } from '../../src/model/report.ts'
import {
  clearCopies,
  type Copy,
  copyOf,
  eventOf,
  events,
  force,
  LONGER_B,
  type Of,
  originalOf,
  restorePoint,
  rewrite,
  SHORTER_A,
  SHORTER_B,
  tipOf,
  vandalise,
  whatAuditSays,
} from '../audit/tampering.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { addCommit, bareRemote, openFetched, scratch, userRepository } from '../git/scratch.ts'
import { untouched } from '../git/untouched.ts'
import { laboratory, PRINTS_VALUE } from '../measure/laboratory.ts'
import { campaign } from '../plan/a-campaign.ts'
import { carryOut, endings } from '../plan/a-world.ts'

/** One campaign with a landing, a runner-up that landed and an idea that lost: put back before each test. */
let site: Copy
let restore: () => void
beforeAll(async () => {
  site = await copyOf(await originalOf([SHORTER_A, SHORTER_B, LONGER_B]))
  restore = restorePoint(site)
})
beforeEach(() => restore())
afterAll(clearCopies)

async function eventsOf<K extends Parameters<typeof eventOf>[1]>(kind: K): Promise<Of<K>[]> {
  const isIt = (event: { kind: string }): event is Of<K> => event.kind === kind
  return (await events(site)).filter(isIt)
}

describe('invariant 1: only measured trees', () => {
  it('every commit on the optimize branch has the tree that was measured against its first parent’s', async () => {
    const [start] = await eventsOf('campaign-started')
    const landed = site.git('rev-list', '--first-parent', `${start?.start.commit}..optimize/size`).split('\n')
    const orders = new Map((await eventsOf('order-issued')).map(order => [order.id, order]))
    const decisions = await eventsOf('decided')
    for (const merged of await eventsOf('merged')) {
      const verdict = decisions.find(({ seq }) => seq === merged.decided.seq)
      const order = orders.get(verdict?.order ?? '')
      expect(site.git('rev-parse', `${merged.commit}^{tree}`)).toBe(order?.candidates[0]?.tree)
      expect(site.git('rev-parse', `${merged.commit}^1^{tree}`)).toBe(order?.base.tree)
    }
    expect(landed.toSorted()).toEqual((await eventsOf('merged')).map(({ commit }) => commit).toSorted())
  })

  it('a tree that nobody measured is named by the audit', async () => {
    const { repository, refs } = site.place
    const forged = await addCommit(repository, await tipOf(site, refs.optimize), { 'src/a.txt': '' })
    force(site, refs.optimize, forged)
    expect((await whatAuditSays(site)).result.unproven?.commit).toBe(forged)
  })
})

describe('invariant 2: append-only', () => {
  it('every commit of the ledger only adds events', () => {
    const changes = site.git('log', '--format=', '--name-status', 'optimize-state/size', '--', 'events')
    expect(new Set(changes.split('\n').map(line => line[0]))).toEqual(new Set(['A']))
  })

  it.each(['{}\n', null])('an event file that is made %j is named', async content => {
    await vandalise(site, { 'events/0000/000002.json': content })
    const { problems } = (await whatAuditSays(site)).result
    expect(problems.map(({ seq }) => seq)).toContain(2)
    await expect(replayLedger(site.place)).rejects.toThrow(/^event 2 /)
  })
})

describe('invariant 3: decisions replay', () => {
  it('every verdict comes out again of the events alone', async () => {
    expect(await replayLedger(site.place)).toMatchObject({ decisions: 3, differences: [] })
  })

  it('a verdict that the events do not give is named', async () => {
    await rewrite(site, draft =>
      draft.kind === 'decided' && draft.outcome === 'dropped' ? [{ ...draft, outcome: 'kept' }] : [draft],
    )
    expect((await replayLedger(site.place)).differences).toContainEqual(
      expect.objectContaining({ field: 'outcome', recorded: 'kept', recomputed: 'dropped' }),
    )
  })
})

describe('invariant 4: pinned harness', () => {
  it('what touches anything outside scope.mutable is refused before any of its code runs', async () => {
    const marker = join(scratch(), 'ran')
    const lab = await laboratory()
    const changed = { 'bench.sh': `touch ${marker}; echo '{"bytes": 0}'\n` }
    const report = await lab.measure({ candidates: { 'exp-001': changed } })
    expect(report.runner_error).toContain('bench.sh is outside scope.mutable')
    expect(existsSync(marker)).toBe(false)
  })

  it('the harness hash is another one when the pinned harness is', async () => {
    const lab = await laboratory()
    const hashOf = async (files: Record<string, string>) => (await lab.input({ files })).order.harness
    const pinned = await hashOf(PRINTS_VALUE)
    expect(await hashOf({ ...PRINTS_VALUE, 'src/value': '7\n' })).toBe(pinned)
    expect(await hashOf({ ...PRINTS_VALUE, 'bench.sh': 'echo 1\n' })).not.toBe(pinned)
  })
})

describe('invariant 5: missing is not good', () => {
  const nothing = fc.constantFrom(undefined, null, Number.NaN, Infinity, -Infinity, '5', [], {})
  const operator = fc.constantFrom('>=', '<=', '>', '<', '==', '!=')

  it('what is not a finite number is no reading and passes no gate', () => {
    fc.assert(
      fc.property(nothing, operator, fc.integer(), (value, op, bound) => {
        expect([toFinite(value), isGatePassed(value, `${op} ${bound}`)]).toEqual([null, false])
        expect(isGatePassed(undefined, `${op} ${bound}`)).toBe(false)
      }),
    )
  })

  it.each(['crashes', 'hangs', 'gate-fails', 'set-up-fails', {}, { other: 1 }] as const)(
    'a candidate that does %j is never kept',
    candidate => {
      const said = typeof candidate === 'string' ? candidate : { ...candidate }
      const built = campaign().withExperiment().ordered()
      const { 'exp-001': outcome } = endings(carryOut(built.measured({ 'exp-001': { candidate: said } })))
      expect(outcome).toMatch(/^(error|timeout|degenerate)$/)
    },
  )
})

describe('invariant 6: untrusted code sees nothing', () => {
  it('of winnow’s environment only what is let through', async () => {
    const lab = await laboratory()
    const seen = join(scratch(), 'seen')
    const files = { ...PRINTS_VALUE, 'bench.sh': `env > ${seen}; ${PRINTS_VALUE['bench.sh']}` }
    const env = { PATH: process.env['PATH'] ?? '', GITHUB_TOKEN: 's3cret' }
    await lab.measure({ files, candidates: { 'exp-001': { 'src/value': '110\n' } }, input: { env } })
    expect(readFileSync(seen, 'utf8')).toContain('WINNOW_OUT_DIR=')
    expect(readFileSync(seen, 'utf8')).not.toContain('s3cret')
  })

  it('and cannot reach harness or other side unnoticed', async () => {
    const lab = await laboratory()
    const files = {
      ...PRINTS_VALUE,
      'bench.sh': `. src/act.sh; ${PRINTS_VALUE['bench.sh']}`,
      'src/act.sh': '\n',
    }
    const reaching = [
      'echo "# x" >> bench.sh',
      'for f in ../../slots/*/tree/src/value; do echo 900 > $f; done',
    ]
    for (const act of reaching) {
      const report = await lab.measure({ files, candidates: { 'exp-001': { 'src/act.sh': `${act}\n` } } })
      expect(report.tampered).toMatchObject({ during: 'exp-001' })
    }
  })
})

describe('invariant 7: safe to repeat, safe to kill', () => {
  it.each(['commit:before-push', 'commit:after-push', 'measure:before-report'])(
    'cut off at %s, the next run ends it: nothing lost, nothing twice',
    async where => {
      let cuts = 0
      const fault = (point: string) => {
        if (cuts > 0 || (point === where && ++cuts > 0)) throw new Error('cut off')
      }
      const testRepository = await createSizeRepository([shorter('a', 3)], { fault })
      await expect(testRepository.start().then(() => testRepository.run())).rejects.toThrow('cut off')
      await testRepository.reopen({ fault: () => {} })
      await testRepository.start()
      expect(await testRepository.run()).toEqual({ for: 'ideas' })
      expect(await testRepository.outcomes()).toEqual({ a3: 'kept' })
      const kinds = await testRepository.kinds()
      const once = ['campaign-started', 'experiment-opened', 'decided', 'merged', 'round-closed']
      expect(kinds.filter(kind => once.includes(kind)).toSorted()).toEqual(once.toSorted())
      const refs = testRepository.bare('for-each-ref')
      await testRepository.run()
      expect(testRepository.bare('for-each-ref')).toBe(refs)
    },
  )
})

describe('invariant 8: nothing is thrown away', () => {
  it('a losing experiment keeps its commits, its measurements and its reason', async () => {
    const { loaded } = await requireCampaign(site.place)
    const lost = Object.values(loaded.campaign.experiments).find(({ outcome }) => outcome === 'dropped')
    expect(site.git('branch', '--list', 'optimize-exp/size/*')).toBe('')
    expect(site.git('merge-base', lost?.head ?? '', 'optimize-closed/size')).toBe(lost?.head)
    expect(lost?.reason).toMatch(/bytes \d+ -> \d+/)
    const closed = await eventOf(site, 'closed', ({ experiment }) => experiment === lost?.id)
    const path = `.winnow/results/size/${lost?.id}/results.yaml`
    expect(site.git('show', `${closed.results}:${path}`)).toContain(lost?.reason ?? '?')
    expect((await eventsOf('measured')).map(({ order }) => order)).toContain(lost?.order)
  })
})

describe('invariant 9: compare-and-swap is the lock', () => {
  it('refs move from the value they were seen at, all or none', async () => {
    const remote = bareRemote()
    userRepository().git('push', '-q', remote.dir, 'main')
    const { repository, main } = await openFetched({ remote: remote.dir })
    const [tip, state] = ['refs/heads/optimize/size', 'refs/heads/optimize-state/size']
    expect(await repository.push([{ ref: tip, from: null, to: main }])).toEqual({ ok: true })
    const to = await addCommit(repository, main, { a: '1' })
    const stale = [
      { ref: state, from: null, to },
      { ref: tip, from: null, to },
    ]
    expect(await repository.push(stale)).toEqual({ ok: false, reason: 'lease', refs: [tip] })
    expect(remote.git('for-each-ref', state, '--format=%(refname)')).toBe('')
    expect(remote.git('rev-parse', tip)).toBe(main)
  })
})

describe('invariant 10: sides look alike', () => {
  it('both sides see the same path, environment and surroundings', async () => {
    const lab = await laboratory()
    const seen = scratch()
    const spy = `{ pwd; env | sort; ls -a . ..; } > ${seen}/$(cat src/value); ${PRINTS_VALUE['bench.sh']}`
    const candidates = { 'exp-001': { 'src/value': '110\n' } }
    await lab.measure({ files: { ...PRINTS_VALUE, 'bench.sh': spy }, candidates })
    const [base, candidate] = ['100', '110'].map(value => readFileSync(join(seen, value), 'utf8'))
    expect(base).toContain('TMPDIR=')
    expect(candidate).toBe(base)
  })

  it('the coins of the order decide who goes first, and a report that does not follow them is told', async () => {
    const lab = await laboratory()
    const { order } = await lab.input({ candidates: { 'exp-001': { 'src/value': '110\n' } } })
    const report = await lab.measure({ candidates: { 'exp-001': { 'src/value': '110\n' } } })
    const digits = '0123456789abcdef'.split('')
    const first = digits.map(digit => drawTurns({ coins: digit.repeat(64) }, 0, ['base', 'exp-001'])[0])
    expect(new Set(first)).toEqual(new Set(['base', 'exp-001']))
    expect(isFollowingCoins(order, report)).toBe(true)
    expect(isFollowingCoins(order, { ...report, executions: report.executions.toReversed() })).toBe(false)
  })
})

describe('invariant 11: no hidden state', () => {
  it('without caches and views the next run decides the same', async () => {
    const testRepository = await createSizeRepository([shorter('a', 3), shorter('b', 5)])
    await testRepository.start()
    await testRepository.until(({ experiments }) => experiments['exp-002']?.status === 'ordered')
    await testRepository.reopen()
    const gone = {
      'README.md': null,
      'digest.md': null,
      'summary.md': null,
      'chart.svg': null,
      'badge.svg': null,
    }
    const views = { ...gone, 'checkpoint.json': 'not a checkpoint' }
    testRepository.push(testRepository.commitOn('optimize-state/size', views), 'optimize-state/size')
    rmSync(join(testRepository.root, 'cache'), { recursive: true })
    const elsewhere = await testRepository.another()
    expect(await elsewhere.run()).toEqual({ for: 'ideas' })
    expect(await elsewhere.outcomes()).toEqual({ a3: 'kept', b5: 'runner_up_kept' })
    await proven(elsewhere.place)
  })
})

describe('invariant 12: own refs only', () => {
  it('the one push refuses anything else before git runs', async () => {
    const remote = bareRemote()
    userRepository().git('push', '-q', remote.dir, 'main')
    const { repository, main } = await openFetched({ remote: remote.dir })
    rmSync(remote.dir, { recursive: true })
    const others = ['heads/main', 'tags/v1', 'heads/optimize', 'heads/optimize/a/b', 'heads/optimizer/size']
    const near = ['winnow-setup-1', 'winnow-setup-10', 'winnow-setup/x', 'winnow-setups']
    for (const ref of [...others, ...near.map(name => `heads/${name}`)].map(name => `refs/${name}`)) {
      expect(isAllowedRef('optimize', ref)).toBe(false)
      const push = repository.push([{ ref, from: null, to: main }])
      await expect(push).rejects.toThrow(`invariant 12: winnow does not write ${ref}`)
    }
    // The branch of the pull request that sets winnow up is made, and never moved.
    const moved = repository.push([{ ref: 'refs/heads/winnow-setup', from: main, to: main }])
    await expect(moved).rejects.toThrow('invariant 12: winnow does not write refs/heads/winnow-setup')
  })

  it('a whole campaign leaves the person’s files, index, HEAD, refs and config as they were', async () => {
    const testRepository = await createSizeRepository([shorter('a', 3)])
    testRepository.write('src/draft.txt', 'not finished\n')
    testRepository.git('tag', 'v1')
    const before = untouched(testRepository.repo)
    await testRepository.start()
    expect(await testRepository.run()).toEqual({ for: 'ideas' })
    before.check()
  })
})
