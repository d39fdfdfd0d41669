import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Oid } from '../model/ids.ts'
import { readStoredJson, removeAll } from './file-system.ts'

/** A directory for one side, kept between orders. Its name does not reveal the side (invariant 10). */
export interface Slot {
  readonly name: string
  /** The tree laid out in it. Null during changes, so that a kill in between is detected. */
  tree: Oid | null
  /** Key of the setup whose outputs it holds (`setup_scope: once`). */
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

/** The slots of a work directory: at most one is on stage, the others are stored. */
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
    // A killed run left it, so its content is unknown.
    await removeAll(slots.stage)
    return slots
  }

  /** The one absolute path at which every side is built and run. */
  get stage(): string {
    return join(this.#workDir, 'at')
  }

  getPath(slot: Slot): string {
    return this.#onStage === slot ? this.stage : this.#getStoredPath(slot)
  }

  /** One slot for each tree: the slot that already holds it, else a free one, else a new one. */
  assign(trees: readonly Oid[]): Slot[] {
    const free = [...this.#slots]
    const take = (wanted: (slot: Slot) => boolean) => {
      const at = free.findIndex(wanted)
      return at === -1 ? undefined : free.splice(at, 1)[0]
    }
    const exact = trees.map(tree => take(slot => slot.tree === tree))
    return exact.map(slot => slot ?? take(() => true) ?? this.#add())
  }

  /** The same place has the same slot in every order, no matter what it holds. */
  assignByPlace(sides: number): Slot[] {
    return Array.from({ length: sides }, (_, at) => this.#slots[at] ?? this.#add())
  }

  async bring(slot: Slot | null): Promise<void> {
    if (this.#onStage === slot) return
    if (this.#onStage !== null) await this.#store(this.#onStage)
    this.#onStage = null
    if (slot !== null) renameSync(this.#getStoredPath(slot), this.stage)
    this.#onStage = slot
  }

  async clear(): Promise<void> {
    this.#onStage = null
    this.#slots.length = 0
    await removeAll(this.stage)
    await removeAll(join(this.#workDir, 'slots'))
    await rm(join(this.#workDir, 'slots.json'), { force: true })
  }

  async note(slot: Slot, change: Partial<Pick<Slot, 'tree' | 'built'>>): Promise<void> {
    Object.assign(slot, change)
    // The slots file is private (mode 0600): code that could read it could infer which side it is.
    const file = join(this.#workDir, 'slots.json')
    writeFileSync(file, JSON.stringify({ slots: this.#slots }), { mode: 0o600 })
  }

  /** For a run that stops before the side on stage is as its set-up left it. */
  async forgetBuild(): Promise<void> {
    if (this.#onStage !== null) await this.note(this.#onStage, { built: null })
  }

  /** A side may have removed its folder or replaced it by something else. Then the slot starts empty. */
  async #store(slot: Slot): Promise<void> {
    if (lstatSync(this.stage, { throwIfNoEntry: false })?.isDirectory())
      return renameSync(this.stage, this.#getStoredPath(slot))
    await removeAll(this.stage)
    mkdirSync(this.#getStoredPath(slot), { recursive: true })
    await this.note(slot, { tree: null, built: null })
  }

  #getStoredPath(slot: Slot): string {
    return join(this.#workDir, 'slots', slot.name)
  }

  #add(): Slot {
    const highest = Math.max(0, ...this.#slots.map(slot => Number(slot.name)))
    const slot: Slot = { name: String(highest + 1), tree: null, built: null }
    this.#slots.push(slot)
    return slot
  }
}

/** Only a cache: an unreadable file just causes a fresh layout. */
function readState(workDir: string): Slot[] {
  return file.safeParse(readStoredJson(join(workDir, 'slots.json'))).data?.slots ?? []
}
