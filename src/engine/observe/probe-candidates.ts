import { isUtf8 } from 'node:buffer'
import type { Repository } from '../../git/repository.ts'
import { listTreeFiles } from '../../git/tree.ts'
import type { Point } from '../../model/ids.ts'
import type { OrderCandidate } from '../../model/order.ts'
import type { MetricValues } from '../../model/report.ts'
import { listProbes } from '../../probes/list-probes.ts'
import type { Probe, SourceFile } from '../../probes/probe.ts'
import type { Spec } from '../../spec/schema.ts'
import { compileScope } from '../../spec/scope.ts'

type ProbeRepository = Pick<Repository, 'tree' | 'blob' | 'writeBlob' | 'replaceEntries'>

interface ProbeBase {
  spec: Spec
  base: Point
  /** The numbers of the base, for forged ones that are better. */
  metrics: MetricValues
}

/** The candidates of an order that tries the probes. The same base and metrics give the same trees. */
export async function buildProbeCandidates(
  repository: ProbeRepository,
  { spec, base, metrics }: ProbeBase,
): Promise<OrderCandidate[]> {
  const files = await readMutableFiles(repository, spec, base)
  const probes = listProbes({ spec, files, metrics })
  const candidates: OrderCandidate[] = []
  for (const probe of probes) {
    const tree = await writeProbeTree(repository, probe, { base, files })
    candidates.push({ label: probe.label, head: base.commit, tree })
  }
  return candidates
}

type MutableFile = SourceFile & { mode: '100644' | '100755' }

/** Longer files are data or generated. */
const LONGEST_FILE = 512 * 1024

async function readMutableFiles(
  repository: ProbeRepository,
  spec: Spec,
  base: Point,
): Promise<MutableFile[]> {
  const scope = compileScope(spec)
  const found: MutableFile[] = []
  for (const { path, mode, oid } of await listTreeFiles(repository, base.tree)) {
    if ((mode !== '100644' && mode !== '100755') || !scope.isMutable(path)) continue
    const bytes = await repository.blob(oid)
    if (bytes.length <= LONGEST_FILE && isUtf8(bytes) && !bytes.includes(0))
      found.push({ path, mode, content: bytes.toString('utf8') })
  }
  return found
}

async function writeProbeTree(
  repository: ProbeRepository,
  { changes }: Probe,
  { base, files }: { base: Point; files: readonly MutableFile[] },
): Promise<string> {
  const modes = new Map(files.map(({ path, mode }) => [path, mode]))
  const entries = []
  for (const { path, content } of changes) {
    const mode = modes.get(path) ?? '100644'
    entries.push({
      path,
      entry: content === null ? null : { mode, oid: await repository.writeBlob(content) },
    })
  }
  return repository.replaceEntries(base.tree, entries)
}
