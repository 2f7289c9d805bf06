"""Capture files and Nsight Systems exports that mean ill or are damaged, as files in a folder."""
import shutil
import sqlite3
import subprocess
from pathlib import Path

# Tables that a plain capture lacks and the statements below fill.
MISSING = {"_counter_samples": "start_ns, duration_ns, device, metric, value",
           "_steps": '"index", start_ns, duration_ns',
           "_recording_windows": "start_ns, duration_ns, pid", "_quality": "code, count, detail"}
D = ""  # the folder, with a slash at its end


def fresh(name):
    Path(D + name).unlink(missing_ok=True)
    return D + name


def nsys(name, sql=(), rows=True):
    db = sqlite3.connect(fresh(name))
    db.execute("create table META_DATA_EXPORT(name text, value text)")
    db.execute("insert into META_DATA_EXPORT values('EXPORT_SCHEMA_VERSION','3.11.0')")
    db.execute("create table TARGET_INFO_SESSION_START_TIME(utcEpochNs int)")
    db.execute("insert into TARGET_INFO_SESSION_START_TIME values(1790857026000000000)")
    db.execute("create table StringIds(id integer primary key, value text)")
    db.execute("insert into StringIds values(1,'gemm'),(2,'cudaLaunchKernel_v7000')")
    if rows:
        db.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(start int,end int,deviceId int,contextId int,streamId int,correlationId int,"
                   "globalPid int,demangledName int,shortName int,gridX int,gridY int,gridZ int,blockX int,blockY int,blockZ int)")
        db.executemany("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?,?,0,1,7,?,16777216,1,1,1,1,1,128,1,1)",
                       [(1000 + i * 100, 1040 + i * 100, i) for i in range(50)])
    for statement in sql:
        db.execute(statement)
    db.commit()
    db.close()


def gpf(name, *sql, base="s_plain.gpf"):
    shutil.copy(D + base, fresh(name))
    db = sqlite3.connect(D + name, isolation_level=None)
    db.execute("pragma writable_schema=on")
    for table, columns in MISSING.items():
        db.execute(f"create table if not exists {table}(row integer primary key, {columns})")
    for statement in sql:
        try:
            db.execute(statement)
        except sqlite3.Error as error:  # a table that a later version no longer has
            print(f"{name}: {error}: {statement[:80]}")
    db.close()


# A few rows, computed: that they are computed is what must be refused.
COMPUTED = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 9) "


def exports():
    nsys("s_nsys_plain.sqlite")
    nsys("s_nsys_view_computed.sqlite", ["create view CUPTI_ACTIVITY_KIND_KERNEL as " + COMPUTED
                                         + "SELECT x*10 AS start, x*10+5 AS end, 0 AS deviceId, 7 AS streamId, x AS correlationId FROM c"], rows=False)
    nsys("s_nsys_view_computed_empty.sqlite",
         ["create view CUPTI_ACTIVITY_KIND_KERNEL as " + COMPUTED
          + "SELECT x AS start FROM c WHERE x < 0"], rows=False)
    nsys("s_nsys_view_bigtext.sqlite", ["drop table StringIds",
                                        "create view StringIds as WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<200) SELECT x AS id, printf('%.*c%d', 1000000, 'x', x) AS value FROM c"])
    nsys("s_nsys_generated.sqlite", ["drop table StringIds",
                                     "create table StringIds(id integer primary key, value text generated always as (printf('%.*c%d', 2000000, 'x', id)))", *[f"insert into StringIds(id) values({i})" for i in range(60)]])
    nsys("s_nsys_diag.sqlite", ["create table DIAGNOSTIC_EVENT(severity int, text text)",
                                "insert into DIAGNOSTIC_EVENT values(3, char(27)||'[2J'||char(27)||']0;pwn'||char(7)||char(10)||'::error::x')"])
    nsys("s_nsys_times.sqlite", ["insert into CUPTI_ACTIVITY_KIND_KERNEL values(%d,%d,0,1,7,%d,16777216,1,1,1,1,1,128,1,1)" % t for t in [(-2**63, 2**63 - 1, 1), (2**62, 2**63 - 1, 2), (-2**62, -2**62 + 1, 3), (0, 7432515010854775807, 4), (7432515010854775800, 7432515010854775807, 5), (-9223372036854775808, -9223372036854775808, 6)]])
    nsys("s_nsys_types.sqlite", ["insert into CUPTI_ACTIVITY_KIND_KERNEL values('a','b','c',x'00ff',1.5,1e300,'x',x'41',null,'9','8','7','z',1e99,-1)", "insert into CUPTI_ACTIVITY_KIND_KERNEL values(5000,5010,9e99,null,null,null,null,null,null,null,null,null,null,null,null)", "insert into CUPTI_ACTIVITY_KIND_KERNEL values(6000,6010,-99999999999,0,0,0,-5,1,1,99999999999,-99999999999,0,0,0,0)"])
    nsys("s_nsys_devices.sqlite", ["create table TARGET_INFO_GPU(id int, cuDevice int, name text, uuid text, smCount int, totalMemory int, clockRate int)", *[f"insert into TARGET_INFO_GPU values({i},{i},'g{i}','u{i}',{2**40},{-i},{2**62})" for i in range(3)]])
    nsys("s_nsys_trigger.sqlite", ["create trigger t after insert on StringIds begin select load_extension('/nowhere/x'); end",
                                   "create view META_V as select load_extension('/nowhere/evil.so')", "create table X(a)"])
    nsys("s_nsys_view_loadext.sqlite", ["drop table StringIds",
                                        "create view StringIds as select load_extension('/nowhere/evil.so') as id, 'x' as value"])
    nsys("s_nsys_view_write.sqlite", ["drop table StringIds",
                                      "create view StringIds as select 1 as id, readfile('/etc/passwd') as value"])
    nsys("s_nsys_view_fts.sqlite", ["create virtual table F using fts5(a)"])
    nsys("s_nsys_badname.sqlite", ['create table "a\x1b[31m\n::error::b"(x)'])
    nsys("s_nsys_rows_2e6.sqlite", ["WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<100000) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,streamId,correlationId) SELECT x*10,x*10+5,0,7,x FROM c"])
    nsys("s_nsys_2e5_devices.sqlite", ["WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<20000) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,streamId,correlationId) SELECT x*10,x*10+5,x,7,x FROM c"])
    # The error message of SQLite carries a name of the file.
    p = fresh("s_nsys_badschema.sqlite"); shutil.copy(D + "s_nsys_badname.sqlite", p)
    d = sqlite3.connect(p); d.execute("pragma writable_schema=on"); d.execute("update sqlite_schema set sql='create tabl' where name like 'a%'"); d.commit(); d.close()


def captures(program):
    subprocess.run([program, "import", D + "k_plain.json", "-o", D + "s_plain.gpf"], check=True,
                   capture_output=True)
    gpf("s_gpf_view_computed.gpf", "drop view kernels",
        "create view kernels as " + COMPUTED + "select x as row from c")
    gpf("s_gpf_view_hangs.gpf", "drop view kernels",
        "create view kernels as select instr(hex(zeroblob(300000)), hex(zeroblob(150000))||'1') as name, 1 as start_ns")
    gpf("s_gpf_table_is_view.gpf", "drop table _activities",
        "create view _activities as " + COMPUTED + "select x-1 as row, x as start_ns from c")
    gpf("s_gpf_strings_generated.gpf", "drop table strings",
        "create table strings(id integer primary key, n, text text generated always as (printf('%.*c%d', 3000000, 'x', n)))", *[f"insert into strings(id,n) values({i},{i})" for i in range(40)])
    gpf("s_gpf_quality_lies.gpf", "delete from _quality")
    gpf("s_gpf_times_extreme.gpf", "update _activities set start_ns = 9223372036854775807, duration_ns = 9223372036854775807 where row = 0", "update _activities set start_ns = -9223372036854775808, duration_ns = 1 where row = 1", "update _host_ops set start_ns = -9223372036854775807, duration_ns = 9223372036854775807 where row=0", "update _api_calls set start_ns = 9223372036854775807, duration_ns=5 where row=0")
    gpf("s_gpf_negative_dur.gpf", "update _activities set duration_ns = -1000",
        "update _host_ops set duration_ns = -5",
        "update _api_calls set duration_ns=-9223372036854775808")
    gpf("s_gpf_null_all.gpf", "update _activities set start_ns=null, duration_ns=null, device=null, name=null, correlation=null")
    gpf("s_gpf_types.gpf", "update _activities set start_ns='abc' where row=3")
    gpf("s_gpf_blobids.gpf", "update _activities set name=x'00' where row=3")
    gpf("s_gpf_floatids.gpf", "update _activities set name=1.5 where row=3")
    gpf("s_gpf_refs.gpf", "update _activities set device=99 where row=3")
    gpf("s_gpf_rowgap.gpf", "update _activities set row=999999 where row=3")
    gpf("s_gpf_row_dup.gpf", "update _activities set row=-5 where row=3")
    gpf("s_gpf_stringids_huge.gpf", "insert into strings values(9223372036854775807,'x')")
    gpf("s_gpf_stringids_min.gpf", "insert into strings values(-9223372036854775808,'x')")
    gpf("s_gpf_strings_null.gpf", "pragma writable_schema=on",
        "update sqlite_schema set sql=replace(sql,'NOT NULL','') where name='strings'")
    gpf("s_gpf_version.gpf", "pragma user_version=99")
    gpf("s_gpf_version_neg.gpf", "pragma user_version=-1")
    gpf("s_gpf_no_source.gpf", "drop table source")
    gpf("s_gpf_two_sources.gpf", "insert into source select * from source")
    gpf("s_gpf_source_evil.gpf", "update source set path=char(27)||'[2J'||char(10)||'::error::x', format='kineto', framework=char(27)||']0;x'||char(7), events=-5, bytes=-9223372036854775808")
    gpf("s_gpf_metadata_evil.gpf", "insert into strings values((select max(id)+1 from strings), char(27)||'[31mred')", "insert into _quality(row,code,count,detail) select 0, max(id), 5, max(id) from strings")
    gpf("s_gpf_quality_esc.gpf", "insert into strings values((select max(id)+1 from strings), 'bad_event')", "insert into strings values((select max(id)+1 from strings), char(27)||'[31mred'||char(10)||'::error file=x::pwned'||char(27)||']0;title'||char(7))", "insert into _quality(row,code,count,detail) select 0, max(id)-1, 5, max(id) from strings")
    gpf("s_gpf_column_esc.gpf", "drop view kernels",
        'create view kernels as select 1 as "a\x1b[31m\n::error::col", '
        + ",".join(f"'{'y'*30}' as c{i}" for i in range(12)))
    gpf("s_gpf_trigger.gpf",
        "create trigger t after insert on strings begin delete from strings; end")
    gpf("s_gpf_grid.gpf", "update _activities set grid_x=2147483647, grid_y=2147483647, grid_z=2147483647, block_x=2147483647, registers=2147483647, shared_bytes=9223372036854775807")
    gpf("s_gpf_dev_facts.gpf",
        "update _devices set sm_count=-1, max_threads_per_sm=0, clock_khz=-5, memory_bytes=-1")
    gpf("s_gpf_dup_steps.gpf", *[f"insert into _steps(row,\"index\",start_ns,duration_ns) values({i},{2**62},{-2**62},{2**62})" for i in range(20)])
    gpf("s_gpf_windows_extreme.gpf", *[f"insert into _recording_windows(row,start_ns,duration_ns,pid) values({i},{-2**63+i},{2**63-1},1)" for i in range(5)])
    gpf("s_gpf_counters_nan.gpf", "insert into strings values((select max(id)+1 from strings), 'gpu.busy')", *[f"insert into _counter_samples(row,start_ns,duration_ns,device,metric,value) select {i}, 1790857026000000000+{i}*1000, 1000, 0, max(id), {v} from strings" for i, v in enumerate(["9e999", "-9e999", "1e308", "-1e308", "5e-324", "null", "0", "-0.0", "1e308", "2"])])
    gpf("s_gpf_samples_far.gpf", "insert into strings values((select max(id)+1 from strings), 'gpu.busy')", *[f"insert into _counter_samples(row,start_ns,duration_ns,device,metric,value) select {i}, {t}, {dd}, 0, max(id), 0.5 from strings" for i, (t, dd) in enumerate([(-2**63, 2**63 - 1), (2**63 - 1, 2**63 - 1), (0, 0), (-5, 10), (2**62, 2**62), (1, -2**63)])])


def make(folder, program):
    """All of them. Returns the class of each file."""
    global D
    D = str(folder) + "/"
    exports()
    captures(program)
    return {path.name: "Nsight Systems exports" if path.name.startswith("s_nsys") else "captures"
            for path in Path(folder).glob("s_*")}
