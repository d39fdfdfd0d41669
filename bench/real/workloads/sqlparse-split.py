import json, os, sys, zlib
sys.path.insert(0, os.getcwd())
import sqlparse

text = "\n".join(
    f"CREATE TABLE t{i} (a int, b text); INSERT INTO t{i} VALUES ({i}, 'x'); BEGIN; SELECT a FROM t{i}; COMMIT;"
    for i in range(150)
)
for _ in range(5):
    answer = sqlparse.split(text)
print(json.dumps({"answer": zlib.crc32(repr(answer).encode())}))
