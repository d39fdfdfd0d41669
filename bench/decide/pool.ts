import { availableParallelism } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'
import { type Case, playMany, type Results, type Size, sum, type Tally } from './case.ts'
import { seeded } from './random.ts'

/** So many plays make one piece of work, whatever the number of workers: the same seed plays the same. */
const PIECES = 8

interface Piece {
  name: string
  number: number
  plays: number
  seed: string
}

/** Plays every case in worker threads of the given script. */
export async function playAll(
  cases: Iterable<Case>,
  { seed, size }: { seed: string; size: Size },
  script: URL,
): Promise<Results> {
  const pieces = [...cases].flatMap(each => piecesOf(each, size, seed))
  const tallies: Tally[] = []
  const queue = pieces.entries()
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(script))
  await Promise.all(workers.map(worker => drain(worker, queue, tallies)))
  await Promise.all(workers.map(worker => worker.terminate()))
  const parts = new Map<string, Tally[]>()
  for (const [index, { name }] of pieces.entries()) {
    parts.set(name, [...(parts.get(name) ?? []), tallies[index] ?? {}])
  }
  return new Map([...parts].map(([name, played]) => [name, sum(played)]))
}

function piecesOf({ name, plays }: Case, size: Size, seed: string): Piece[] {
  const count = Math.ceil(plays[size] / PIECES)
  return Array.from({ length: PIECES }, (_, number) => ({
    name,
    number,
    plays: Math.min(count, plays[size] - number * count),
    seed,
  })).filter(piece => piece.plays > 0)
}

async function drain(worker: Worker, queue: Iterator<[number, Piece]>, tallies: Tally[]): Promise<void> {
  for (let next = queue.next(); next.done !== true; next = queue.next()) {
    const [index, piece] = next.value
    tallies[index] = await answer(worker, piece)
  }
}

function answer(worker: Worker, piece: Piece): Promise<Tally> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (tally: Tally) => {
      worker.off('error', reject)
      resolve(tally)
    })
    worker.postMessage(piece)
  })
}

/** The same plays in this thread: what a table says of one case can be checked without the rest of it. */
export function playHere(each: Case, { seed, size }: { seed: string; size: Size }): Tally {
  const pieces = piecesOf(each, size, seed)
  return sum(pieces.map(({ plays, name, number }) => playMany(plays, seeded(seed, name, number), each)))
}

/** What a worker thread does: plays the pieces it is given. */
export function serve(cases: ReadonlyMap<string, Case>): void {
  parentPort?.on('message', ({ name, number, plays, seed }: Piece) => {
    const each = cases.get(name)
    if (each === undefined) throw new Error(`no case ${name}`)
    parentPort?.postMessage(playMany(plays, seeded(seed, name, number), each))
  })
}
