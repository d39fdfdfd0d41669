import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ForgeError, LedgerError, UserError } from '../../src/errors.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const SERIAL = 'execution: { mode: serial }\n'
const isOrdered = ({ experiments }: Campaign) => experiments['exp-001']?.status === 'ordered'

async function ordered(options: { remote?: boolean } = {}): Promise<TestRepository> {
  const site = await createSizeRepository([shorter('a', 3)], { spec: SERIAL, ...options })
  await site.start()
  await site.until(isOrdered)
  return site
}

async function endsAsEver(site: TestRepository): Promise<void> {
  expect(await site.run()).toEqual({ for: 'ideas' })
  expect(await site.outcomes()).toEqual({ a3: 'kept' })
  await site.proven()
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    value => ({ didNotFail: value }),
    (error: unknown) => error,
  )
}

describe('a remote', () => {
  it('that protects the optimize branch pauses the campaign with its message, keeps the observations, and resumes', async () => {
    const site = await createSizeRepository([shorter('a', 3)], { spec: SERIAL, remote: true })
    await site.start()
    site.push(site.commitOn('main', { 'src/b.txt': 'b\n' }, 'mine'), 'optimize-exp/size/mine')
    const refuse = 'echo "GH006: Protected branch update failed for refs/heads/optimize/size." >&2; exit 1'
    site.hook('pre-receive', `grep -q " refs/heads/optimize/size$" && { ${refuse}; }\nexit 0`)
    const words = /the remote rejected the push to .*optimize\/size.*GH006: Protected branch update failed/s
    expect(await site.run()).toEqual({ for: 'person', what: expect.stringMatching(words) })
    expect(await site.alerts()).toEqual([expect.stringMatching(words)])
    expect((await site.campaign()).status).toBe('paused')
    expect(await site.experiment('mine')).toMatchObject({ status: 'measured', outcome: null })
    expect(site.bare('rev-parse', 'optimize/size')).toBe(site.bare('rev-parse', 'main'))
    expect(await site.run()).toMatchObject({ for: 'person' })
    await site.proven()

    site.hook('pre-receive', null)
    await site.person({ kind: 'campaign-resumed', reason: 'the rule is gone' })
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.outcomes()).toEqual({ mine: 'kept', a3: 'kept' })
    const issued = (await site.events()).flatMap(event => (event.kind === 'order-issued' ? [event] : []))
    expect(issued.map(({ purpose }) => purpose)).toEqual(['calibration', 'experiment', 'experiment'])
    const sent = (await site.events()).flatMap(event =>
      event.kind === 'order-dispatched' ? [event.order] : [],
    )
    expect(sent).toEqual(issued.map(({ id }) => id))
    await site.proven()
  })

  releaseTest('that refuses one push gets it a second time, and no person is asked', async () => {
    const site = await createSizeRepository([shorter('a', 3)], { spec: SERIAL, remote: true })
    await site.start()
    const once = join(site.root, 'refused')
    site.hook(
      'pre-receive',
      `grep -q " refs/heads/optimize/size$" || exit 0
test -e ${once} && exit 0
: > ${once}
echo "the hook timed out" >&2; exit 1`,
    )
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    expect(await site.kinds()).not.toContain('campaign-paused')
    expect(site.said.filter(line => line.includes('the hook timed out'))).toEqual([
      expect.stringMatching(/^The remote rejected a push; winnow repeats it: /),
    ])
    await site.proven()
  })

  releaseTest('that refuses again after each resumption never records two events of one id', async () => {
    const site = await createSizeRepository([shorter('a', 3), shorter('b', 3)], {
      spec: SERIAL,
      remote: true,
    })
    await site.start()
    site.hook('pre-receive', 'grep -q " refs/heads/optimize/size$" && { echo no >&2; exit 1; }\nexit 0')
    for (let times = 0; times < 3; times++) {
      expect(await site.run()).toMatchObject({ for: 'person' })
      await site.person({ kind: 'campaign-resumed', reason: 'once more' })
    }
    const ids = (await site.events()).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    await site.proven()
  })

  it('that refuses everything is an error in its own words, and loses no event', async () => {
    const refuse = 'echo "the disk of this server is read-only" >&2; exit 1'
    const fresh = await createSizeRepository([shorter('a', 3)], { remote: true })
    fresh.hook('pre-receive', refuse)
    const error = await failureOf(fresh.start())
    expect(error).toBeInstanceOf(ForgeError)
    expect(error).toHaveProperty('message', expect.stringContaining('the disk of this server is read-only'))

    const site = await ordered({ remote: true })
    site.hook('pre-receive', refuse)
    const later = await failureOf(site.run())
    expect(later).toBeInstanceOf(ForgeError)
    expect(later).toHaveProperty(
      'message',
      expect.stringMatching(
        /^the remote rejected the push to the ledger branch optimize-state\/size: .*the disk of this server is read-only/s,
      ),
    )
    site.hook('pre-receive', null)
    await endsAsEver(site)
    expect((await site.kinds()).filter(kind => kind === 'order-lost')).toEqual([])
  })

  releaseTest('that is gone is named with its path, and loses no event', async () => {
    const site = await ordered({ remote: true })
    renameSync(site.origin, `${site.origin}.away`)
    const error = await failureOf(site.run())
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({
      message: `the remote ${site.origin} is not a git repository`,
      fix: 'check the path of the remote; was the repository moved or deleted?',
    })
    renameSync(`${site.origin}.away`, site.origin)
    await endsAsEver(site)
  })

  it('with a branch in the way names that branch', async () => {
    const site = await createSizeRepository([], { remote: true })
    site.push(site.bare('rev-parse', 'main'), 'optimize')
    const error = await failureOf(site.start())
    expect(error).toHaveProperty('message', expect.stringContaining("'refs/heads/optimize' exists"))
  })
})

describe('a repository without a remote', () => {
  releaseTest('whose optimize branch is checked out waits, and names the worktree', async () => {
    const site = await ordered()
    site.git('checkout', '-q', 'optimize/size')
    const what = `optimize/size is checked out in ${site.repo}: switch it to another branch`
    expect(await site.run()).toEqual({ for: 'person', what })
    expect(await site.run()).toEqual({ for: 'person', what })
    expect(site.git('status', '--porcelain')).toBe('')
    site.git('checkout', '-q', 'main')
    await endsAsEver(site)
  })

  releaseTest('with an experiment checked out waits for that branch alone', async () => {
    const site = await ordered()
    site.git('checkout', '-q', 'optimize-exp/size/exp-001')
    const what = `optimize-exp/size/exp-001 is checked out in ${site.repo}: switch it to another branch`
    expect(await site.run()).toEqual({ for: 'person', what })
    site.git('checkout', '-q', 'main')
    await endsAsEver(site)
  })

  releaseTest('whose HEAD names no branch says what to do', async () => {
    const site = await createSizeRepository([])
    site.git('checkout', '-q', '--detach')
    const error = await failureOf(site.another())
    expect(error).toMatchObject({
      message: 'no branch is checked out, so the default branch is not known',
      fix: expect.stringContaining('check out the branch to optimise'),
    })
  })
})

describe('a work directory without write permission', () => {
  it.each(selectCases(['orders', 'work']))(
    '%s is named with what to do, and the next run continues',
    async folder => {
      const site = await createSizeRepository([shorter('a', 3)], { spec: SERIAL })
      await site.start()
      const path = join(site.place.dataDir, folder)
      site.write(`../cache/${path.slice(join(site.root, 'cache').length + 1)}`, 'a file is in the way')
      const error = await failureOf(site.run())
      expect(error).toBeInstanceOf(UserError)
      expect(error).toHaveProperty('message', expect.stringContaining(path))
      expect(error).toHaveProperty('fix', expect.stringMatching(/free space or give write permission/))
      renameSync(path, `${path}.away`)
      await site.reopen()
      await endsAsEver(site)
    },
  )
})

describe('a report', () => {
  async function reported(change: (text: string) => string): Promise<TestRepository> {
    const site = await ordered()
    const hands = await site.hands()
    await hands.runner.settled()
    const { order } = await site.experiment('a3')
    const file = join(site.place.dataDir, 'orders', `${order}.report.json`)
    expect(existsSync(file)).toBe(true)
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    return site
  }

  const CHANGES = [
    { what: 'lacks what it must hold', change: () => '{}', why: /order: .*expected string/ },
    {
      what: 'answers another order',
      change: (text: string) => text.replace(/"order":"[0-9a-f]{4}/, '"order":"0000'),
      why: /^it answers order 0000/,
    },
    {
      what: 'does not follow the coins',
      change: (text: string) => text.replace(/"seed":\d+/, '"seed":1'),
      why: /^its executions do not follow the coins of the order$/,
    },
    {
      what: 'is of another ruler',
      change: (text: string) => text.replace(/"harness":"[0-9a-f]{64}"/, `"harness":"${'0'.repeat(64)}"`),
      why: /^it was measured with harness 000000000000$/,
    },
    {
      what: 'is of another tree',
      change: (text: string) => text.replace(/"base":"[0-9a-f]{40}"/, `"base":"${'0'.repeat(40)}"`),
      why: /^base was tree 0{40}, the order says [0-9a-f]{40}$/,
    },
  ]

  it.each(selectCases(CHANGES))('that $what is rejected and measured again', async ({ change, why }) => {
    const site = await reported(change)
    expect(await site.run()).toEqual({ for: 'ideas' })
    const rejected = (await site.events()).filter(({ kind }) => kind === 'report-rejected')
    expect(rejected).toMatchObject([{ reason: expect.stringMatching(why) }])
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    await site.proven()
  })
})

describe('a ledger', () => {
  /** Somebody with write access changes files of the ledger's branch. */
  function tamper(site: TestRepository, files: Record<string, string | null>): void {
    site.push(site.commitOn('optimize-state/size', files, 'tampered'), 'optimize-state/size')
  }
  const file = 'events/0000/000003.json'

  const EDITS: Record<string, (site: TestRepository) => Record<string, string | null>> = {
    'with an event that is no JSON': () => ({ [file]: 'garbage' }),
    'with an event that was edited': site => ({
      [file]: `${site.bare('show', `optimize-state/size:${file}`).replace('"tester"', '"somebody"')}\n`,
    }),
    'that lacks an event': () => ({ [file]: null }),
  }

  it.each(selectCases(Object.entries(EDITS), 2))('%s is an error that names it', async (_, edit) => {
    const site = await ordered({ remote: true })
    tamper(site, edit(site))
    await site.reopen()
    const error = await failureOf(site.run())
    expect(error).toBeInstanceOf(LedgerError)
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/^event [34] (\(events\/0000\/00000[34]\.json\)|is missing)/),
    )
  })

  it.each(selectCases(['garbage', '{"fold":1,"head":"0","seq":3,"state":{},"state_digest":"0"}\n']))(
    'with the wrong checkpoint %j is folded again',
    async checkpoint => {
      const site = await ordered({ remote: true })
      tamper(site, { 'checkpoint.json': checkpoint })
      await site.reopen()
      await endsAsEver(site)
    },
  )
})
