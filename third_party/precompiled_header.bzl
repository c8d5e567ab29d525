"""A header that GCC compiles once, and then reads in a tenth of the time."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    libraries = [dep[CcInfo] for dep in ctx.attr.deps]
    context = cc_common.merge_cc_infos(cc_infos = libraries).compilation_context
    made = []
    for level in ctx.attr.levels:
        # GCC looks for NAME.gch beside the header, and takes it if the options are the same.
        header = ctx.actions.declare_file("%s/%s" % (level, ctx.file.header.basename))
        ctx.actions.symlink(output = header, target_file = ctx.file.header)
        compiled = ctx.actions.declare_file(header.basename + ".gch", sibling = header)
        variables = cc_common.create_compile_variables(
            cc_toolchain = toolchain,
            feature_configuration = features,
            source_file = ctx.file.header.path,
            output_file = compiled.path,
            user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ["-" + level, "-x", "c++-header"],
            quote_include_directories = context.quote_includes,
            include_directories = context.includes,
            system_include_directories = context.system_includes,
            use_pic = True,
        )
        ctx.actions.run(
            executable = cc_common.get_tool_for_action(
                feature_configuration = features,
                action_name = ACTION_NAMES.cpp_compile,
            ),
            arguments = cc_common.get_memory_inefficient_command_line(
                feature_configuration = features,
                action_name = ACTION_NAMES.cpp_compile,
                variables = variables,
            ),
            inputs = depset([ctx.file.header], transitive = [context.headers, toolchain.all_files]),
            outputs = [compiled],
            mnemonic = "PrecompileHeader",
        )
        made += [header, compiled]
    here = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset(made)))
    return [cc_common.merge_cc_infos(cc_infos = [here] + libraries)]

precompiled_header = rule(
    implementation = _precompiled_header,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], doc = "libraries whose headers it includes"),
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "levels": attr.string_list(doc = "of optimization, as O0; each is a folder of its own"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
