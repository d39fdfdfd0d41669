import json, os, sys, zlib
sys.path.insert(0, os.getcwd())
import sqlparse

columns = ", ".join(f"t.column{i} AS name{i}" for i in range(120))
text = f"SELECT {columns} FROM t JOIN u ON t.id = u.id WHERE u.a = 1 AND t.b IN (1, 2, 3) ORDER BY 1"
for _ in range(6):
    answer = sqlparse.format(text, reindent=True)
print(json.dumps({"answer": zlib.crc32(answer.encode())}))
