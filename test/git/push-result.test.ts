import { describe, expect, it } from 'vitest'
import { buildPushTask, classifyPush, type PushResult, type RefUpdate } from '../../src/git/push.ts'

const TIP = 'refs/heads/optimize/speed'
const STATE = 'refs/heads/optimize-state/speed'
const OID = 'a'.repeat(40)
const UPDATES: RefUpdate[] = [
  { ref: TIP, from: OID, to: OID },
  { ref: STATE, from: OID, to: null },
]
const LOST = { ok: false, reason: 'lease', refs: [TIP] }

/** What git prints for the tip, and beside it on stderr. */
function judged(summary: string, stderr = ''): PushResult | null {
  const task = buildPushTask({ remote: 'r', prefix: 'optimize', local: false, updates: UPDATES })
  const stdout = `To r\n!\t${OID}:${TIP}\t${summary}\nDone\n`
  return classifyPush(task.parse({ exitCode: 1, stdout, stderr }), UPDATES)
}

describe('the push as data', () => {
  it('leases every ref on its old value, atomically', () => {
    const remote = 'https://example.com/r.git'
    const { args } = buildPushTask({ remote, prefix: 'optimize', local: false, updates: UPDATES })
    expect(args[0]).toBe('push')
    expect(args).toContain('--atomic')
    expect(args).toContain(`--force-with-lease=${TIP}:${OID}`)
    expect(args.slice(-4)).toEqual(['--', remote, `${OID}:${TIP}`, `:${STATE}`])
    expect(args.join(' ')).not.toContain('receive-pack')
  })

  it('switches hooks and gc of a local repository off', () => {
    const { args } = buildPushTask({ remote: 'r', prefix: 'optimize', local: true, updates: UPDATES })
    const receive = args.find(arg => arg.startsWith('--receive-pack='))
    for (const off of ['core.hooksPath=/dev/null', 'receive.autogc=false', 'denyCurrentBranch=refuse']) {
      expect(receive).toContain(off)
    }
  })
})

describe('the words of git', () => {
  it.each([
    '[rejected] (stale info)',
    '[remote rejected] (incorrect old value provided)',
    '[remote rejected] (reference already exists)',
    '[remote rejected] (reference does not exist)',
    `[remote rejected] (cannot lock ref '${TIP}': is at ${OID} but expected ${OID})`,
  ])('%s: a lost race', summary => expect(judged(summary)).toEqual(LOST))

  it.each([
    `error: cannot lock ref '${TIP}': is at ${OID} but expected ${OID}`,
    `remote: error: cannot lock ref '${TIP}': reference already exists`,
    `error: cannot lock ref '${TIP}': unable to resolve reference '${TIP}'`,
    `error: cannot lock ref '${TIP}': Unable to create '/x.lock': File exists.`,
  ])('atomic transaction failed, %s: a lost race', stderr => {
    expect(judged('[remote rejected] (atomic transaction failed)', stderr)).toEqual(LOST)
  })

  it('a branch in the way is not a race', () => {
    const stderr = `error: cannot lock ref '${TIP}': 'refs/heads/optimize' exists; cannot create '${TIP}'`
    expect(judged('[remote rejected] (atomic transaction failed)', stderr)).toMatchObject({
      reason: 'atomic-refused',
    })
  })

  it('a rule of the forge is named', () => {
    const stderr =
      'remote: error: GH013: Repository rule violations found\nremote: - Changes must be signed\n'
    expect(judged('[remote rejected] (push declined due to repository rule violations)', stderr)).toEqual({
      ok: false,
      reason: 'refused',
      rule: 'GH013',
      message: `${TIP}: [remote rejected] (push declined due to repository rule violations)\nerror: GH013: Repository rule violations found\n- Changes must be signed`,
    })
  })

  it('a broken connection answers nothing about the refs', () => {
    expect(judged('[remote failure] (remote failed to report status)')).toBeNull()
    expect(
      classifyPush({ output: { exitCode: 128, stdout: '', stderr: 'fatal: x' }, rejected: [] }, UPDATES),
    ).toBeNull()
  })
})
