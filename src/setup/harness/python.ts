import type { EntryPoint } from '../findings.ts'
import { buildScriptHarness } from './script.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { renderHeadComment, renderWorkloadComment } from './words.ts'

export function buildPythonHarness(of: SkeletonRequest): Skeleton {
  return buildScriptHarness(of, { extension: 'py', interpreter: of.interpreter, text: renderPythonSource })
}

function renderPythonSource(command: string, entry: EntryPoint | null): string {
  const module = entry?.kind === 'module' ? entry.path : null
  return `${renderHeadComment('#', command)}
import json
import time
${module === null ? '' : `import importlib\n\nimport ${module} as subject\n`}

${renderWorkloadComment('#', module === null ? 'return parse(text)' : 'return subject.parse(text)', entry)}
def workload():
${module === null ? '    return " ".join(str(n) for n in sorted((i * 7919) % 10007 for i in range(10000)))' : '    return repr(dir(importlib.reload(subject)))'}
# ================================


answer = None


def took(calls):
    """Seconds of that many calls."""
    global answer
    start = time.perf_counter()
    for _ in range(calls):
        answer = workload()
    return time.perf_counter() - start


calls = 1
while took(calls) < 0.005:
    calls *= 2
times = sorted(took(calls) / calls for _ in range(15))
print(json.dumps({"milliseconds": times[7] * 1000, "output_bytes": len(str(answer))}))
`
}
