import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { lchown } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copyFolder, removeAll, reopen } from './file-system.ts'
import { snapshotSide } from './guarded-run.ts'
import { prepareHome } from './private-home.ts'
import { getSidePaths, type OrderSide, type Session, type StartState, Tampered } from './session.ts'
import {
  findTamperedPath,
  isSameFile,
  listFolders,
  type SnapshotEntry,
  snapshotEverything,
  snapshotFiles,
  type TamperSnapshot,
  toDiskPath,
} from './tamper-check.ts'

/** winnow clears these before every execution. */
const OUTPUTS = /^(?:\.|tmp|out|result\.json|progress\.jsonl|stdout|stderr)(?:\/|$)/
const CHECKPOINT = /^checkpoint(?:\/|$)/

export async function recordStart(session: Session, side: OrderSide): Promise<void> {
  if (side.snapshots === null) throw new Error(`${side.label} was not laid out`)
  const entries = mapEntries(session, side.snapshots.everything)
  const tracked = new Set(side.files.map(({ path }) => path))
  const dir = join(session.input.workDir, 'starts', side.slot.name)
  await removeAll(dir)
  const isPlainTree = [...entries.values()].every(
    ({ path, names }) => names !== null || tracked.has(path) || isMadeHome(session, path),
  )
  side.start = { entries, tracked, copy: isPlainTree ? null : await copyStart(session, side, dir) }
}

const MADE_HOME = /^home(?:\/|$)/

/** Without a set-up, HOME holds only what winnow made, and can make again. */
function isMadeHome({ input }: Session, path: string): boolean {
  return input.spec.measurement.setup === null && MADE_HOME.test(path)
}

async function copyStart(session: Session, side: OrderSide, dir: string): Promise<StartState['copy']> {
  mkdirSync(dirname(dir), { recursive: true, mode: 0o700 })
  await copyFolder({ from: session.slots.getPath(side.slot), to: dir, options: ['-a'], what: SET_UP_FILES })
  return { dir, snapshot: snapshotEverything(dir, [], session.input.repository.objectFormat) }
}

const SET_UP_FILES = 'what its set-up left'

function mapEntries({ input }: Session, { entries }: TamperSnapshot): Map<string, SnapshotEntry> {
  const { keep_checkpoint: kept } = input.spec.measurement
  const restored = entries.filter(({ path }) => !OUTPUTS.test(path) && !(kept && CHECKPOINT.test(path)))
  return new Map(restored.map(entry => [entry.path, { ...entry }]))
}

/** Call after an execution, when its processes have ended and its tracked files have been checked. */
export async function restoreStart(session: Session, side: OrderSide): Promise<void> {
  const { start, snapshots } = side
  if (start === null || snapshots === null) return
  // It does not run again in this order. A later order must not find what it left.
  if (side.ended) return session.slots.note(side.slot, { built: null })
  const left = mapEntries(session, snapshots.everything)
  const added = [...left.keys()].filter(path => !start.entries.has(path))
  const changed = [...start.entries.values()]
    .filter(entry => isChanged(entry, left.get(entry.path), start))
    .map(({ path }) => path)
  if (added.length + changed.length === 0) return
  const isElsewhere = (path: string) => !isMadeHome(session, path)
  const root = session.slots.getPath(side.slot)
  if (![...added, ...changed].every(isElsewhere))
    await prepareHome(getSidePaths(root), { real: session.realHome, owner: side.owner })
  await restoreEntries(session, side, {
    added: added.filter(isElsewhere),
    changed: changed.filter(isElsewhere),
  })
  const everything = snapshotSide(session, side, snapshots.files)
  side.snapshots = { files: snapshotFiles(everything, side.files), everything }
  side.start = { ...start, entries: mapEntries(session, everything) }
}

async function restoreEntries(
  session: Session,
  side: OrderSide,
  { added, changed }: Record<'added' | 'changed', string[]>,
): Promise<void> {
  const toPath = (path: string) => toDiskPath(session.slots.getPath(side.slot), path)
  const isKeptFolder = (path: string) => isFolderEntry(side, path) && isRealFolder(toPath(path))
  const [removed, copied] = [added, changed.filter(path => !isKeptFolder(path))].map(selectTopmost)
  // A folder that is still there is not copied: the files in it are compared one by one.
  const folders = new Set(changed.filter(isKeptFolder))
  for (const path of [...(removed ?? []), ...(copied ?? [])]) {
    folders.add(dirname(path))
    reopen(toPath(dirname(path)))
  }
  for (const path of removed ?? []) await removeAll(toPath(path))
  for (const path of copied ?? []) await copyBack(session, side, path)
  // A folder comes after those in it: it may forbid to enter.
  for (const path of [...folders].toSorted().toReversed())
    if (isKeptFolder(path)) chmodSync(toPath(path), getStartMode(side, path))
}

function isFolderEntry({ start }: OrderSide, path: string): boolean {
  return (start?.entries.get(path)?.names ?? null) !== null
}

function getStartMode({ start }: OrderSide, path: string): number {
  return Number((start?.entries.get(path)?.stamp.mode ?? 0n) & PERMISSIONS)
}

/** The files of a folder are compared one by one. Tracked files have been checked. */
function isChanged(entry: SnapshotEntry, now: SnapshotEntry | undefined, { tracked }: StartState): boolean {
  if (tracked.has(entry.path)) return false
  if (now === undefined || now.stamp.mode !== entry.stamp.mode) return true
  return entry.names === null && !isSameFile(entry, now)
}

async function copyBack(session: Session, side: OrderSide, path: string): Promise<void> {
  const { slots, input } = session
  const copy = side.start?.copy ?? null
  if (copy === null) return makeFolders(session, side, path)
  const [target, source] = [slots.getPath(side.slot), copy.dir].map(dir => toDiskPath(dir, path))
  // Programs cannot be given names that are not UTF-8.
  if (typeof target !== 'string' || typeof source !== 'string') throw new Tampered(side.label, path)
  // Without isolation the run could write there too.
  const broken = findTamperedPath(copy.snapshot, copy.dir, input.repository.objectFormat)
  if (broken !== null) throw new Tampered(side.label, broken.replace(/^tree\//, ''))
  await removeAll(target)
  await copyFolder({ from: source, to: target, options: ['-a'], what: SET_UP_FILES })
}

/** Without a copy, the set-up left nothing but empty folders. */
async function makeFolders({ slots }: Session, side: OrderSide, path: string): Promise<void> {
  const root = slots.getPath(side.slot)
  await removeAll(toDiskPath(root, path))
  for (const below of side.start?.entries.keys() ?? []) {
    if (below !== path && !below.startsWith(`${path}/`)) continue
    const folder = toDiskPath(root, below)
    mkdirSync(folder)
    chmodSync(folder, getStartMode(side, below))
    if (side.owner !== null) await lchown(folder, side.owner.uid, side.owner.gid)
  }
}

function isRealFolder(path: string | Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

const PERMISSIONS = 0o7777n

/** A path below another one of the list is removed or copied with it. */
function selectTopmost(paths: readonly string[]): string[] {
  const chosen = new Set(paths)
  return paths.filter(path => !listParents(path).some(parent => chosen.has(parent)))
}

function listParents(path: string): string[] {
  return [...listFolders([{ path }])]
}
