import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Oid } from '../model/ids.ts'
import { isMissing, removeAll } from './file-system.ts'

/** A directory for one side, with a name that says nothing (invariant 10), kept between orders. */
export interface Slot {
  readonly name: string
  /** What is laid out in it; null while that changes, so that a kill in between is noticed. */
  tree: Oid | null
  /** Which set-up's outputs lie in it (`setup_scope: once`). */
  built: string | null
}

const file = z.strictObject({
  slots: z.array(
    z.strictObject({
      name: z.string().regex(/^\d+$/),
      tree: z.string().nullable(),
      built: z.string().nullable(),
    }),
  ),
})

/** The directories of a work directory: all parked, but for the one that is on stage. */
export class Slots {
  readonly #workDir: string
  readonly #slots: Slot[]
  #onStage: Slot | null = null

  private constructor(workDir: string, slots: Slot[]) {
    this.#workDir = workDir
    this.#slots = slots
  }

  static async open(workDir: string): Promise<Slots> {
    mkdirSync(join(workDir, 'slots'), { recursive: true, mode: 0o700 })
    chmodSync(join(workDir, 'slots'), 0o700)
    const known = readState(workDir)
    const slots = new Slots(
      workDir,
      known.filter(slot => existsSync(join(workDir, 'slots', slot.name))),
    )
    // A kill left it there: nobody knows what it holds.
    await removeAll(slots.stage)
    return slots
  }

  /** The one absolute path at which every side is built and run. */
  get stage(): string {
    return join(this.#workDir, 'at')
  }

  getPath(slot: Slot): string {
    return this.#onStage === slot ? this.stage : this.#parked(slot)
  }

  /** One slot a tree: the one that holds it already, else any, else a new one. */
  assign(trees: readonly Oid[]): Slot[] {
    const free = [...this.#slots]
    const take = (wanted: (slot: Slot) => boolean) => {
      const at = free.findIndex(wanted)
      return at === -1 ? undefined : free.splice(at, 1)[0]
    }
    const exact = trees.map(tree => take(slot => slot.tree === tree))
    return exact.map(slot => slot ?? take(() => true) ?? this.#add())
  }

  async bring(slot: Slot | null): Promise<void> {
    if (this.#onStage === slot) return
    if (this.#onStage !== null) await this.#park(this.#onStage)
    this.#onStage = null
    if (slot !== null) renameSync(this.#parked(slot), this.stage)
    this.#onStage = slot
  }

  /** Nothing of them is left on the disk. */
  async clear(): Promise<void> {
    this.#onStage = null
    this.#slots.length = 0
    await removeAll(this.stage)
    await removeAll(join(this.#workDir, 'slots'))
    await rm(join(this.#workDir, 'slots.json'), { force: true })
  }

  async note(slot: Slot, change: Partial<Pick<Slot, 'tree' | 'built'>>): Promise<void> {
    Object.assign(slot, change)
    // Whoever knows what lay here before could guess which side it is.
    const file = join(this.#workDir, 'slots.json')
    writeFileSync(file, JSON.stringify({ slots: this.#slots }), { mode: 0o600 })
  }

  /** What a side put in the place of its own folder, or nothing, is no folder to lay anything out in. */
  async #park(slot: Slot): Promise<void> {
    if (lstatSync(this.stage, { throwIfNoEntry: false })?.isDirectory())
      return renameSync(this.stage, this.#parked(slot))
    await removeAll(this.stage)
    mkdirSync(this.#parked(slot), { recursive: true })
    await this.note(slot, { tree: null, built: null })
  }

  #parked(slot: Slot): string {
    return join(this.#workDir, 'slots', slot.name)
  }

  #add(): Slot {
    const highest = Math.max(0, ...this.#slots.map(slot => Number(slot.name)))
    const slot: Slot = { name: String(highest + 1), tree: null, built: null }
    this.#slots.push(slot)
    return slot
  }
}

/** What cannot be read is laid out anew: it is only a cache. */
function readState(workDir: string): Slot[] {
  try {
    const parsed = file.safeParse(JSON.parse(readFileSync(join(workDir, 'slots.json'), 'utf8')))
    return parsed.data?.slots ?? []
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return []
    throw error
  }
}
