import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { getBootId } from '../../src/measure/machine.ts'
import { removeAll } from '../../src/measure/file-system.ts'
import { removeUntracked } from '../../src/measure/layout.ts'
import { Slots } from '../../src/measure/slots.ts'
import { laboratory } from './laboratory.ts'
import { scratch } from './scratch.ts'

const A = 'a'.repeat(40)
const B = 'b'.repeat(40)
const C = 'c'.repeat(40)

async function filled(workDir: string, trees: readonly string[]): Promise<Slots> {
  const slots = await Slots.open(workDir)
  for (const [at, slot] of slots.assign(trees).entries()) {
    mkdirSync(slots.getPath(slot), { recursive: true })
    await slots.note(slot, { tree: trees[at] ?? null })
  }
  return slots
}

describe('the slots of a work directory', () => {
  test('a tree gets the slot that holds it, another tree any free one', async () => {
    const workDir = scratch()
    await filled(workDir, [A, B])
    const slots = await Slots.open(workDir)
    expect(slots.assign([B, A]).map(slot => slot.name)).toEqual(['2', '1'])
    expect(slots.assign([C, B]).map(slot => slot.name)).toEqual(['1', '2'])
    expect(slots.assign([A, B, C]).map(slot => slot.name)).toEqual(['1', '2', '3'])
  })

  test('two sides with the same tree have a slot each', async () => {
    const slots = await filled(scratch(), [A, A])
    const [first, second] = slots.assign([A, A])
    expect(first).not.toBe(second)
  })

  test('one slot at a time is on stage, at one path', async () => {
    const workDir = scratch()
    const slots = await filled(workDir, [A, B])
    const [first, second] = slots.assign([A, B])
    if (first === undefined || second === undefined) throw new Error('no slots')
    for (const slot of [first, second, first]) {
      await slots.bring(slot)
      expect(slots.getPath(slot)).toBe(join(workDir, 'at'))
      expect(readdirSync(join(workDir, 'slots'))).toHaveLength(1)
    }
    await slots.bring(null)
    expect(existsSync(join(workDir, 'at'))).toBe(false)
    expect(readdirSync(join(workDir, 'slots'))).toHaveLength(2)
  })

  test('the stage of a killed run is removed, and its slot forgotten', async () => {
    const workDir = scratch()
    await filled(workDir, [A, B])
    renameSync(join(workDir, 'slots/1'), join(workDir, 'at'))
    const slots = await Slots.open(workDir)
    expect(existsSync(slots.stage)).toBe(false)
    expect(slots.assign([A]).map(slot => [slot.name, slot.tree])).toEqual([['2', B]])
  })

  test('a damaged slots file only causes a fresh layout', async () => {
    const workDir = scratch()
    await filled(workDir, [A])
    writeFileSync(join(workDir, 'slots.json'), '{"slots": [{"name": "../../etc"')
    expect((await Slots.open(workDir)).assign([A])).toMatchObject([{ tree: null }])
  })
})

describe('a measurement after a kill', () => {
  test('measures after any leftovers', async () => {
    const lab = await laboratory()
    const order = { candidates: { 'exp-001': { 'src/value': '90\n' } } }
    const before = await lab.measure(order)
    renameSync(join(lab.workDir, 'slots/2'), join(lab.workDir, 'at'))
    mkdirSync(join(lab.workDir, 'copy/tree'), { recursive: true })
    const gone = { pid: 2 ** 22 - 1, started: '1' }
    writeFileSync(
      join(lab.workDir, 'running.json'),
      JSON.stringify({ boot_id: getBootId(), owner: gone, supervisor: gone }),
    )
    const after = await lab.measure(order)
    expect(after.runner_error).toBeNull()
    expect(after.executions.map(run => run.metrics['bytes'])).toEqual(
      before.executions.map(run => run.metrics['bytes']),
    )
    expect(existsSync(join(lab.workDir, 'running.json'))).toBe(false)
  })
})

describe('removing untracked files', () => {
  test('keeps the files of the tree only', async () => {
    const dir = scratch()
    for (const path of ['a', 'sub/b', 'sub/cache/x', 'other/y']) {
      mkdirSync(join(dir, path, '..'), { recursive: true })
      writeFileSync(join(dir, path), path)
    }
    symlinkSync(scratch(), join(dir, 'link'))
    const entry = (path: string) => ({ path, mode: '100644', oid: A })
    await removeUntracked(dir, [entry('a'), entry('sub/b')])
    expect(readdirSync(dir).toSorted()).toEqual(['a', 'sub'])
    expect(readdirSync(join(dir, 'sub'))).toEqual(['b'])
  })

  test('does not follow a link that replaces a folder', async () => {
    const dir = scratch()
    const elsewhere = scratch()
    writeFileSync(join(elsewhere, 'precious'), '1')
    symlinkSync(elsewhere, join(dir, 'sub'))
    await removeUntracked(dir, [{ path: 'sub/b', mode: '100644', oid: A }])
    expect(readdirSync(elsewhere)).toEqual(['precious'])
    expect(readdirSync(dir)).toEqual([])
  })

  test('removes files without permissions', async () => {
    const dir = join(scratch(), 'locked')
    mkdirSync(join(dir, 'in'), { recursive: true })
    chmodSync(join(dir, 'in'), 0)
    chmodSync(dir, 0)
    await removeAll(dir)
    expect(existsSync(dir)).toBe(false)
  })

  test('removes folders nested too deep for a path, with names that are not UTF-8', async () => {
    const room = scratch()
    const dir = Buffer.concat([Buffer.from(`${room}/`), Buffer.from([0xff])])
    const nest = 'mkdir "\\xff" and chdir "\\xff"; mkdir "x" and chdir "x" for 1..2100; chmod 0, "."'
    execFileSync('perl', ['-e', nest], { cwd: room })
    await removeAll(dir)
    expect(readdirSync(room)).toEqual([])
  })

  test('removes a link, and not its target', async () => {
    const dir = scratch()
    const elsewhere = scratch()
    writeFileSync(join(elsewhere, 'precious'), '1')
    symlinkSync(elsewhere, join(dir, 'link'))
    await removeAll(join(dir, 'link'))
    expect([readdirSync(dir), readdirSync(elsewhere)]).toEqual([[], ['precious']])
  })
})
