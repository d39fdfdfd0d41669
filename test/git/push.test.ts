import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addCommit, bareRemote, openFetched, scratch, userRepository } from './scratch.ts'
import { untouched } from './untouched.ts'

const TIP = 'refs/heads/optimize/speed'
const STATE = 'refs/heads/optimize-state/speed'
const EXP = 'refs/heads/optimize-exp/speed/exp-001'

/** A bare remote with a main, and winnow's repository beside it. */
async function pushedTo(prefix = 'optimize') {
  const remote = bareRemote()
  const user = userRepository()
  user.git('push', '-q', remote.dir, 'main')
  return { remote, ...(await openFetched({ remote: remote.dir, prefix })) }
}

function hook(remote: string, name: string, script: string): void {
  mkdirSync(join(remote, 'hooks'), { recursive: true })
  writeFileSync(join(remote, 'hooks', name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(remote, 'hooks', name), 0o755)
}

describe('a push', () => {
  it('creates, moves and deletes refs together', async () => {
    const { remote, repository, main } = await pushedTo()
    const next = await addCommit(repository, main, { 'src/a.txt': 'better\n' })
    expect(
      await repository.push([
        { ref: TIP, from: null, to: main },
        { ref: EXP, from: null, to: next },
      ]),
    ).toEqual({ ok: true })
    expect(
      await repository.push([
        { ref: TIP, from: main, to: next },
        { ref: EXP, from: next, to: null },
        { ref: STATE, from: null, to: main },
      ]),
    ).toEqual({ ok: true })
    expect(remote.git('for-each-ref', '--format=%(refname) %(objectname)').split('\n')).toEqual([
      `refs/heads/main ${main}`,
      `${STATE} ${main}`,
      `${TIP} ${next}`,
    ])
  })

  it('to a repository on this machine runs its hooks and never its gc', async () => {
    const { remote, repository, main } = await pushedTo()
    // A pack for every push, and cleaning up as soon as there are two.
    remote.git('config', 'receive.unpackLimit', '1')
    remote.git('config', 'gc.autoPackLimit', '1')
    remote.git('config', 'gc.autoDetach', 'false')
    hook(remote.dir, 'post-receive', 'cat > received')
    hook(remote.dir, 'pre-auto-gc', 'touch cleaned')
    const first = await addCommit(repository, main, { a: '1' })
    const next = await addCommit(repository, first, { a: '2' })
    expect(await repository.push([{ ref: TIP, from: null, to: first }])).toEqual({ ok: true })
    expect(await repository.push([{ ref: TIP, from: first, to: next }])).toEqual({ ok: true })
    expect(readFileSync(join(remote.dir, 'received'), 'utf8')).toContain(`${next} ${TIP}`)
    expect(existsSync(join(remote.dir, 'cleaned'))).toBe(false)
  })

  it('may move a ref backwards when its old value is right', async () => {
    const { remote, repository, main } = await pushedTo()
    const next = await addCommit(repository, main, { x: '1' })
    await repository.push([{ ref: TIP, from: null, to: next }])
    expect(await repository.push([{ ref: TIP, from: next, to: main }])).toEqual({ ok: true })
    expect(remote.git('rev-parse', TIP)).toBe(main)
  })

  it('repeated after it was accepted is accepted again', async () => {
    const { repository, main } = await pushedTo()
    const update = [{ ref: TIP, from: null, to: main }]
    expect(await repository.push(update)).toEqual({ ok: true })
    expect(await repository.push(update)).toEqual({ ok: true })
  })

  it('of nothing does nothing', async () => {
    const { repository } = await pushedTo()
    expect(await repository.push([])).toEqual({ ok: true })
  })

  it('fails without a token for workflow files', async () => {
    const { remote, repository, main } = await pushedTo()
    expect(repository.canPushWorkflows).toBe(false)
    const update = [{ ref: TIP, from: null, to: main }]
    await expect(repository.push(update, { bringsWorkflows: true })).rejects.toThrow(
      'no token may push workflow files',
    )
    expect(remote.git('for-each-ref', TIP)).toBe('')
  })
})

describe('a lost race', () => {
  it('names the ref and moves none of the others', async () => {
    const { remote, repository, main } = await pushedTo()
    const [ours, theirs] = [
      await addCommit(repository, main, { a: '1' }),
      await addCommit(repository, main, { a: '2' }),
    ]
    await repository.push([{ ref: TIP, from: null, to: theirs }])
    const before = remote.git('for-each-ref')
    expect(
      await repository.push([
        { ref: STATE, from: null, to: ours },
        { ref: TIP, from: main, to: ours },
      ]),
    ).toEqual({ ok: false, reason: 'lease', refs: [TIP] })
    expect(remote.git('for-each-ref')).toBe(before)
  })

  it('a ref that must not exist and does', async () => {
    const { repository, main } = await pushedTo()
    const next = await addCommit(repository, main, { a: '1' })
    await repository.push([{ ref: TIP, from: null, to: main }])
    expect(await repository.push([{ ref: TIP, from: null, to: next }])).toEqual({
      ok: false,
      reason: 'lease',
      refs: [TIP],
    })
  })

  it('a ref that must exist and does not, moved or deleted', async () => {
    const { repository, main } = await pushedTo()
    const next = await addCommit(repository, main, { a: '1' })
    const lost = { ok: false, reason: 'lease', refs: [TIP] }
    expect(await repository.push([{ ref: TIP, from: main, to: next }])).toEqual(lost)
    expect(await repository.push([{ ref: TIP, from: main, to: null }])).toEqual(lost)
  })

  it('between looking and writing is seen by the remote', async () => {
    const { remote, repository, main } = await pushedTo()
    const [ours, theirs] = [
      await addCommit(repository, main, { a: '1' }),
      await addCommit(repository, main, { a: '2' }),
    ]
    await repository.push([{ ref: TIP, from: null, to: main }])
    await repository.push([{ ref: EXP, from: null, to: theirs }])
    hook(
      remote.dir,
      'update',
      `test "$1" = ${TIP} || exit 0\nunset GIT_QUARANTINE_PATH\ngit update-ref ${TIP} ${theirs}`,
    )
    expect(await repository.push([{ ref: TIP, from: main, to: ours }])).toEqual({
      ok: false,
      reason: 'lease',
      refs: [TIP],
    })
    expect(remote.git('rev-parse', TIP)).toBe(theirs)
  })

  it('of many pushes at once exactly one wins', async () => {
    const { repository, main } = await pushedTo()
    const commits = await Promise.all(
      ['1', '2', '3', '4', '5'].map(text => addCommit(repository, main, { a: text })),
    )
    const results = await Promise.all(commits.map(to => repository.push([{ ref: TIP, from: null, to }])))
    expect(results.filter(result => result.ok).length).toBe(1)
    const lost = { ok: false, reason: 'lease', refs: [TIP] }
    expect(results.filter(result => !result.ok)).toEqual([lost, lost, lost, lost])
  })
})

describe('own refs only (invariant 12)', () => {
  it.each([
    'refs/heads/main',
    'refs/tags/v1',
    'refs/heads/optimizer/speed',
    'refs/heads/optimize',
    'HEAD',
    '+refs/heads/optimize/speed',
  ])('refuses %s before git runs', async ref => {
    const { remote, repository, main } = await pushedTo()
    const before = remote.git('for-each-ref')
    const update = [
      { ref: TIP, from: null, to: main },
      { ref, from: null, to: main },
    ]
    await expect(repository.push(update)).rejects.toThrow('invariant 12')
    expect(remote.git('for-each-ref')).toBe(before)
  })

  it('pushes objects by their full id alone', async () => {
    const { repository, main } = await pushedTo()
    for (const to of ['main', main.slice(0, 8), '', `${main}:refs/heads/main`]) {
      await expect(repository.push([{ ref: TIP, from: null, to }])).rejects.toThrow('not a git object id')
    }
  })

  it('follows the configured prefix', async () => {
    const { repository, main } = await pushedTo('tune')
    await expect(repository.push([{ ref: TIP, from: null, to: main }])).rejects.toThrow('invariant 12')
    expect(await repository.push([{ ref: 'refs/heads/tune/speed', from: null, to: main }])).toEqual({
      ok: true,
    })
  })
})

describe('a remote that refuses', () => {
  it('by pre-receive hook: its text is the rule', async () => {
    const { remote, repository, main } = await pushedTo()
    hook(remote.dir, 'pre-receive', "echo 'no pushes on Fridays' >&2; exit 1")
    const result = await repository.push([{ ref: TIP, from: null, to: main }])
    expect(result).toMatchObject({ ok: false, reason: 'refused', rule: 'no pushes on Fridays' })
    expect(result).toMatchObject({ message: expect.stringContaining('pre-receive hook declined') })
  })

  it.each(['GH006: Protected branch update failed', 'GH013: Repository rule violations found'])(
    'by rule %s',
    async text => {
      const { remote, repository, main } = await pushedTo()
      hook(remote.dir, 'pre-receive', `echo 'error: ${text} for ${TIP}.' >&2; exit 1`)
      const result = await repository.push([{ ref: TIP, from: null, to: main }])
      expect(result).toMatchObject({ ok: false, reason: 'refused', rule: text.slice(0, 5) })
      expect(result).toMatchObject({ message: expect.stringContaining(text) })
    },
  )

  it('one ref of several: none moves', async () => {
    const { remote, repository, main } = await pushedTo()
    hook(remote.dir, 'update', `test "$1" != ${TIP}`)
    const result = await repository.push([
      { ref: TIP, from: null, to: main },
      { ref: STATE, from: null, to: main },
    ])
    expect(result).toMatchObject({
      ok: false,
      reason: 'refused',
      message: expect.stringContaining(`${TIP}: [remote rejected] (hook declined)`),
    })
    expect(remote.git('for-each-ref', 'refs/heads/optimize*')).toBe('')
  })

  it('because a branch is in the way: no race, and never retried', async () => {
    const { remote, repository, main } = await pushedTo()
    remote.git('branch', 'optimize', 'main')
    const result = await repository.push([{ ref: TIP, from: null, to: main }])
    expect(result).toMatchObject({ ok: false, reason: expect.stringContaining('refused') })
    expect(result).toMatchObject({ message: expect.stringContaining("'refs/heads/optimize' exists") })
  })

  it('atomic pushes as such', async () => {
    const { remote, repository, main } = await pushedTo()
    remote.git('config', 'receive.advertiseAtomic', 'false')
    expect(await repository.push([{ ref: TIP, from: null, to: main }])).toMatchObject({
      ok: false,
      reason: 'atomic-refused',
    })
    expect(remote.git('for-each-ref', TIP)).toBe('')
  })
})

describe('without a remote: the branches live in the repository itself', () => {
  it('its hooks do not run, its gc does not start, and nothing else of it changes', async () => {
    const user = userRepository()
    for (const name of [
      'pre-receive',
      'update',
      'post-receive',
      'post-update',
      'reference-transaction',
      'pre-auto-gc',
    ]) {
      hook(join(user.dir, '.git'), name, `echo ${name} >> '${join(user.dir, 'ran')}'; exit 1`)
    }
    user.git('config', 'gc.auto', '1')
    user.git('config', 'receive.denyNonFastForwards', 'true')
    user.git('config', 'receive.denyDeletes', 'true')
    const { repository, main } = await openFetched({ remote: user.dir, local: true })
    const person = untouched(user.dir)
    const next = await addCommit(repository, main, { a: '1' })
    expect(await repository.push([{ ref: TIP, from: null, to: next }])).toEqual({ ok: true })
    expect(await repository.push([{ ref: TIP, from: next, to: main }])).toEqual({ ok: true })
    expect(await repository.push([{ ref: TIP, from: main, to: null }])).toEqual({ ok: true })
    person.check()
  })

  it('a branch checked out in the main worktree waits, and names it', async () => {
    const user = userRepository()
    user.git('checkout', '-q', '-b', 'optimize/speed')
    const { repository, main } = await openFetched({ remote: user.dir, local: true })
    const person = untouched(user.dir)
    const next = await addCommit(repository, main, { a: '1' })
    const result = await repository.push([
      { ref: STATE, from: null, to: next },
      { ref: TIP, from: main, to: next },
    ])
    expect(result).toEqual({ ok: false, reason: 'checked-out', ref: TIP, worktree: user.dir })
    expect(await repository.push([{ ref: TIP, from: main, to: null }])).toEqual(result)
    person.check()
    expect(user.git('rev-parse', TIP)).toBe(main)
    expect(user.git('for-each-ref', STATE)).toBe('')
  })

  it('a branch checked out in a linked worktree waits, and names it', async () => {
    const user = userRepository()
    const linked = join(scratch(), 'linked tree')
    user.git('worktree', 'add', '-q', '-b', 'optimize/speed', linked)
    const { repository, main } = await openFetched({ remote: user.dir, local: true })
    const person = untouched(linked)
    const next = await addCommit(repository, main, { a: '1' })
    expect(await repository.push([{ ref: TIP, from: main, to: next }])).toEqual({
      ok: false,
      reason: 'checked-out',
      ref: TIP,
      worktree: linked,
    })
    person.check()
    expect(await repository.worktreesHolding([TIP, STATE])).toEqual([{ path: linked, branch: TIP }])
  })
})

describe('the lock of one of our branches, left in the repository by a push that was killed', () => {
  async function locked(ageSeconds: number) {
    const user = userRepository()
    const opened = await openFetched({ remote: user.dir, local: true })
    const lock = join(user.dir, '.git', `${TIP}.lock`)
    mkdirSync(dirname(lock), { recursive: true })
    writeFileSync(lock, '')
    const then = Date.now() / 1000 - ageSeconds
    utimesSync(lock, then, then)
    const result = await opened.repository.push([{ ref: TIP, from: null, to: opened.main }])
    return { lock, result }
  }

  it('does not stop the next push', async () => {
    const { lock, result } = await locked(120)
    expect(result).toEqual({ ok: true })
    expect(existsSync(lock)).toBe(false)
  })

  it('is respected while its owner may be alive: a lost race', async () => {
    const { lock, result } = await locked(0)
    expect(result).toEqual({ ok: false, reason: 'lease', refs: [TIP] })
    expect(existsSync(lock)).toBe(true)
  })
})
