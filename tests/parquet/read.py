"""Prints what pyarrow reads of a Parquet file: the schema, then each row, as JSON lines."""
import json
import sys

import pyarrow.parquet as parquet

table = parquet.read_table(sys.argv[1])
file = parquet.ParquetFile(sys.argv[1])
print(json.dumps({"columns": [[field.name, str(field.type)] for field in table.schema], "rows": table.num_rows,
                  "groups": file.metadata.num_row_groups}))
for row in table.to_pylist():
    cells = []
    for name in table.schema.names:
        value = row[name]
        if hasattr(value, "timestamp"):
            value = round(value.timestamp() * 1000)
        elif isinstance(value, float):
            value = value.hex()
        cells.append(value)
    print(json.dumps(cells))
# The numbers by which a reader skips row groups.
for group in range(file.metadata.num_row_groups):
    for column in range(file.metadata.num_columns):
        chunk = file.metadata.row_group(group).column(column)
        values = [v.as_py() for v in file.read_row_group(group).column(column)]
        assert chunk.statistics.null_count == values.count(None), (group, column)
        if chunk.statistics.has_min_max:
            assert chunk.statistics.min == min(v for v in values if v is not None), (group, column)
            assert chunk.statistics.max == max(v for v in values if v is not None), (group, column)
