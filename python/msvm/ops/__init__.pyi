from typing import Any

from ._custom import TensorSpec as TensorSpec
from ._custom import custom as custom
from ._index import getitem as getitem
from ._index import setitem as setitem
from .activation import (
    celu as celu,
)
from .activation import (
    elu as elu,
)
from .activation import (
    gelu as gelu,
)
from .activation import (
    glu as glu,
)
from .activation import (
    hard_sigmoid as hard_sigmoid,
)
from .activation import (
    hard_swish as hard_swish,
)
from .activation import (
    hardmax as hardmax,
)
from .activation import (
    hardshrink as hardshrink,
)
from .activation import (
    hardsigmoid as hardsigmoid,
)
from .activation import (
    hardswish as hardswish,
)
from .activation import (
    hardtanh as hardtanh,
)
from .activation import (
    leaky_relu as leaky_relu,
)
from .activation import (
    log_softmax as log_softmax,
)
from .activation import (
    logsigmoid as logsigmoid,
)
from .activation import (
    mish as mish,
)
from .activation import (
    prelu as prelu,
)
from .activation import (
    relu as relu,
)
from .activation import (
    relu6 as relu6,
)
from .activation import (
    selu as selu,
)
from .activation import (
    shrink as shrink,
)
from .activation import (
    silu as silu,
)
from .activation import (
    softmax as softmax,
)
from .activation import (
    softmin as softmin,
)
from .activation import (
    softplus as softplus,
)
from .activation import (
    softshrink as softshrink,
)
from .activation import (
    softsign as softsign,
)
from .activation import (
    swiglu as swiglu,
)
from .activation import (
    swish as swish,
)
from .activation import (
    tanhshrink as tanhshrink,
)
from .activation import (
    threshold as threshold,
)
from .activation import (
    thresholded_relu as thresholded_relu,
)
from .attend import (
    attention as attention,
)
from .attend import (
    flash_attention as flash_attention,
)
from .attend import (
    rotary_embedding as rotary_embedding,
)
from .attend import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from .conv import (
    causal_conv_with_state as causal_conv_with_state,
)
from .conv import (
    conv1d as conv1d,
)
from .conv import (
    conv2d as conv2d,
)
from .conv import (
    conv3d as conv3d,
)
from .conv import (
    conv_integer as conv_integer,
)
from .conv import (
    conv_transpose1d as conv_transpose1d,
)
from .conv import (
    conv_transpose2d as conv_transpose2d,
)
from .conv import (
    conv_transpose3d as conv_transpose3d,
)
from .conv import (
    deform_conv2d as deform_conv2d,
)
from .conv import (
    qlinear_conv as qlinear_conv,
)
from .creation import (
    arange as arange,
)
from .creation import (
    as_array as as_array,
)
from .creation import (
    blackman_window as blackman_window,
)
from .creation import (
    empty as empty,
)
from .creation import (
    eye as eye,
)
from .creation import (
    eye_like as eye_like,
)
from .creation import (
    full as full,
)
from .creation import (
    full_like as full_like,
)
from .creation import (
    hamming_window as hamming_window,
)
from .creation import (
    hann_window as hann_window,
)
from .creation import (
    linspace as linspace,
)
from .creation import (
    logspace as logspace,
)
from .creation import (
    meshgrid as meshgrid,
)
from .creation import (
    ones as ones,
)
from .creation import (
    ones_like as ones_like,
)
from .creation import (
    range_of as range_of,
)
from .creation import (
    zeros as zeros,
)
from .creation import (
    zeros_like as zeros_like,
)
from .elementwise import (
    abs as abs,
)
from .elementwise import (
    absolute as absolute,
)
from .elementwise import (
    acos as acos,
)
from .elementwise import (
    acosh as acosh,
)
from .elementwise import (
    add as add,
)
from .elementwise import (
    addcdiv as addcdiv,
)
from .elementwise import (
    addcmul as addcmul,
)
from .elementwise import (
    addn as addn,
)
from .elementwise import (
    arccos as arccos,
)
from .elementwise import (
    arccosh as arccosh,
)
from .elementwise import (
    arcsin as arcsin,
)
from .elementwise import (
    arcsinh as arcsinh,
)
from .elementwise import (
    arctan as arctan,
)
from .elementwise import (
    arctan2 as arctan2,
)
from .elementwise import (
    arctanh as arctanh,
)
from .elementwise import (
    asin as asin,
)
from .elementwise import (
    asinh as asinh,
)
from .elementwise import (
    atan as atan,
)
from .elementwise import (
    atan2 as atan2,
)
from .elementwise import (
    atanh as atanh,
)
from .elementwise import (
    bit_cast as bit_cast,
)
from .elementwise import (
    bitwise_and as bitwise_and,
)
from .elementwise import (
    bitwise_left_shift as bitwise_left_shift,
)
from .elementwise import (
    bitwise_not as bitwise_not,
)
from .elementwise import (
    bitwise_or as bitwise_or,
)
from .elementwise import (
    bitwise_right_shift as bitwise_right_shift,
)
from .elementwise import (
    bitwise_xor as bitwise_xor,
)
from .elementwise import (
    cast as cast,
)
from .elementwise import (
    cbrt as cbrt,
)
from .elementwise import (
    ceil as ceil,
)
from .elementwise import (
    clamp as clamp,
)
from .elementwise import (
    clip as clip,
)
from .elementwise import (
    copysign as copysign,
)
from .elementwise import (
    cos as cos,
)
from .elementwise import (
    cosh as cosh,
)
from .elementwise import (
    cumprod as cumprod,
)
from .elementwise import (
    cumsum as cumsum,
)
from .elementwise import (
    deepcopy as deepcopy,
)
from .elementwise import (
    div as div,
)
from .elementwise import (
    divide as divide,
)
from .elementwise import (
    eq as eq,
)
from .elementwise import (
    equal as equal,
)
from .elementwise import (
    erf as erf,
)
from .elementwise import (
    erfc as erfc,
)
from .elementwise import (
    exp as exp,
)
from .elementwise import (
    exp2 as exp2,
)
from .elementwise import (
    expm1 as expm1,
)
from .elementwise import (
    fix as fix,
)
from .elementwise import (
    floor as floor,
)
from .elementwise import (
    floor_div as floor_div,
)
from .elementwise import (
    floor_divide as floor_divide,
)
from .elementwise import (
    fmax as fmax,
)
from .elementwise import (
    fmin as fmin,
)
from .elementwise import (
    fmod as fmod,
)
from .elementwise import (
    frac as frac,
)
from .elementwise import (
    ge as ge,
)
from .elementwise import (
    greater as greater,
)
from .elementwise import (
    greater_equal as greater_equal,
)
from .elementwise import (
    gt as gt,
)
from .elementwise import (
    hypot as hypot,
)
from .elementwise import (
    identity as identity,
)
from .elementwise import (
    inv as inv,
)
from .elementwise import (
    isclose as isclose,
)
from .elementwise import (
    isfinite as isfinite,
)
from .elementwise import (
    isinf as isinf,
)
from .elementwise import (
    isnan as isnan,
)
from .elementwise import (
    le as le,
)
from .elementwise import (
    lerp as lerp,
)
from .elementwise import (
    less as less,
)
from .elementwise import (
    less_equal as less_equal,
)
from .elementwise import (
    log as log,
)
from .elementwise import (
    log1p as log1p,
)
from .elementwise import (
    log2 as log2,
)
from .elementwise import (
    log10 as log10,
)
from .elementwise import (
    logaddexp as logaddexp,
)
from .elementwise import (
    logical_and as logical_and,
)
from .elementwise import (
    logical_not as logical_not,
)
from .elementwise import (
    logical_or as logical_or,
)
from .elementwise import (
    logical_xor as logical_xor,
)
from .elementwise import (
    lt as lt,
)
from .elementwise import (
    max_of as max_of,
)
from .elementwise import (
    maximum as maximum,
)
from .elementwise import (
    mean_of as mean_of,
)
from .elementwise import (
    min_of as min_of,
)
from .elementwise import (
    minimum as minimum,
)
from .elementwise import (
    mod as mod,
)
from .elementwise import (
    mul as mul,
)
from .elementwise import (
    multiply as multiply,
)
from .elementwise import (
    nan_to_num as nan_to_num,
)
from .elementwise import (
    ne as ne,
)
from .elementwise import (
    neg as neg,
)
from .elementwise import (
    negative as negative,
)
from .elementwise import (
    nextafter as nextafter,
)
from .elementwise import (
    not_equal as not_equal,
)
from .elementwise import (
    pow as pow,
)
from .elementwise import (
    reciprocal as reciprocal,
)
from .elementwise import (
    remainder as remainder,
)
from .elementwise import (
    round as round,
)
from .elementwise import (
    rsqrt as rsqrt,
)
from .elementwise import (
    select as select,
)
from .elementwise import (
    sigmoid as sigmoid,
)
from .elementwise import (
    sign as sign,
)
from .elementwise import (
    signbit as signbit,
)
from .elementwise import (
    sin as sin,
)
from .elementwise import (
    sinh as sinh,
)
from .elementwise import (
    sqrt as sqrt,
)
from .elementwise import (
    square as square,
)
from .elementwise import (
    sub as sub,
)
from .elementwise import (
    subtract as subtract,
)
from .elementwise import (
    tan as tan,
)
from .elementwise import (
    tanh as tanh,
)
from .elementwise import (
    true_divide as true_divide,
)
from .elementwise import (
    trunc as trunc,
)
from .elementwise import (
    where as where,
)
from .elementwise import (
    xlogy as xlogy,
)
from .image import (
    affine_grid as affine_grid,
)
from .image import (
    crop_and_resize as crop_and_resize,
)
from .image import (
    grid_sample as grid_sample,
)
from .image import (
    interpolate as interpolate,
)
from .image import (
    max_roi_pool as max_roi_pool,
)
from .image import (
    resize as resize,
)
from .image import (
    resize_bicubic as resize_bicubic,
)
from .image import (
    resize_bilinear as resize_bilinear,
)
from .image import (
    resize_nearest_neighbor as resize_nearest_neighbor,
)
from .image import (
    roi_align as roi_align,
)
from .image import (
    upsample as upsample,
)
from .indexing import (
    argsort as argsort,
)
from .indexing import (
    argwhere as argwhere,
)
from .indexing import (
    bincount as bincount,
)
from .indexing import (
    bucketize as bucketize,
)
from .indexing import (
    compress as compress,
)
from .indexing import (
    gather as gather,
)
from .indexing import (
    gather_elements as gather_elements,
)
from .indexing import (
    gather_nd as gather_nd,
)
from .indexing import (
    index_add as index_add,
)
from .indexing import (
    index_select as index_select,
)
from .indexing import (
    isin as isin,
)
from .indexing import (
    masked_fill as masked_fill,
)
from .indexing import (
    masked_select as masked_select,
)
from .indexing import (
    median as median,
)
from .indexing import (
    msort as msort,
)
from .indexing import (
    nms as nms,
)
from .indexing import (
    non_max_suppression as non_max_suppression,
)
from .indexing import (
    nonzero as nonzero,
)
from .indexing import (
    one_hot as one_hot,
)
from .indexing import (
    scatter as scatter,
)
from .indexing import (
    scatter_nd as scatter_nd,
)
from .indexing import (
    searchsorted as searchsorted,
)
from .indexing import (
    sort as sort,
)
from .indexing import (
    take as take,
)
from .indexing import (
    take_along_axis as take_along_axis,
)
from .indexing import (
    tensor_scatter as tensor_scatter,
)
from .indexing import (
    tensor_scatter_add as tensor_scatter_add,
)
from .indexing import (
    tensor_scatter_elements as tensor_scatter_elements,
)
from .indexing import (
    tensor_scatter_max as tensor_scatter_max,
)
from .indexing import (
    tensor_scatter_min as tensor_scatter_min,
)
from .indexing import (
    tensor_scatter_mul as tensor_scatter_mul,
)
from .indexing import (
    tensor_scatter_sub as tensor_scatter_sub,
)
from .indexing import (
    tensor_scatter_update as tensor_scatter_update,
)
from .indexing import (
    topk as topk,
)
from .indexing import (
    unique as unique,
)
from .indexing import (
    unique_consecutive as unique_consecutive,
)
from .linalg import (
    addmm as addmm,
)
from .linalg import (
    baddbmm as baddbmm,
)
from .linalg import (
    bias_add as bias_add,
)
from .linalg import (
    bmm as bmm,
)
from .linalg import (
    cross as cross,
)
from .linalg import (
    dense as dense,
)
from .linalg import (
    det as det,
)
from .linalg import (
    dot as dot,
)
from .linalg import (
    einsum as einsum,
)
from .linalg import (
    gemm as gemm,
)
from .linalg import (
    inner as inner,
)
from .linalg import (
    kron as kron,
)
from .linalg import (
    linear as linear,
)
from .linalg import (
    matmul as matmul,
)
from .linalg import (
    mm as mm,
)
from .linalg import (
    mv as mv,
)
from .linalg import (
    outer as outer,
)
from .linalg import (
    tensordot as tensordot,
)
from .linalg import (
    trace as trace,
)
from .linalg import (
    vecdot as vecdot,
)
from .movement import (
    broadcast_tensors as broadcast_tensors,
)
from .movement import (
    broadcast_to as broadcast_to,
)
from .movement import (
    cat as cat,
)
from .movement import (
    center_crop_pad as center_crop_pad,
)
from .movement import (
    channel_shuffle as channel_shuffle,
)
from .movement import (
    chunk as chunk,
)
from .movement import (
    col2im as col2im,
)
from .movement import (
    column_stack as column_stack,
)
from .movement import (
    concat as concat,
)
from .movement import (
    concatenate as concatenate,
)
from .movement import (
    depth_to_space as depth_to_space,
)
from .movement import (
    diag as diag,
)
from .movement import (
    diagonal as diagonal,
)
from .movement import (
    dstack as dstack,
)
from .movement import (
    expand as expand,
)
from .movement import (
    expand_as as expand_as,
)
from .movement import (
    expand_dims as expand_dims,
)
from .movement import (
    flatten as flatten,
)
from .movement import (
    flip as flip,
)
from .movement import (
    fold as fold,
)
from .movement import (
    hstack as hstack,
)
from .movement import (
    im2col as im2col,
)
from .movement import (
    matrix_transpose as matrix_transpose,
)
from .movement import (
    moveaxis as moveaxis,
)
from .movement import (
    movedim as movedim,
)
from .movement import (
    numel as numel,
)
from .movement import (
    pad as pad,
)
from .movement import (
    permute as permute,
)
from .movement import (
    pixel_shuffle as pixel_shuffle,
)
from .movement import (
    pixel_unshuffle as pixel_unshuffle,
)
from .movement import (
    rank as rank,
)
from .movement import (
    ravel as ravel,
)
from .movement import (
    repeat_interleave as repeat_interleave,
)
from .movement import (
    reshape as reshape,
)
from .movement import (
    reshape_as as reshape_as,
)
from .movement import (
    reverse_sequence as reverse_sequence,
)
from .movement import (
    roll as roll,
)
from .movement import (
    rot90 as rot90,
)
from .movement import (
    shape as shape,
)
from .movement import (
    shape_tensor as shape_tensor,
)
from .movement import (
    space_to_depth as space_to_depth,
)
from .movement import (
    split as split,
)
from .movement import (
    squeeze as squeeze,
)
from .movement import (
    stack as stack,
)
from .movement import (
    swapaxes as swapaxes,
)
from .movement import (
    swapdims as swapdims,
)
from .movement import (
    t as t,
)
from .movement import (
    tensor_split as tensor_split,
)
from .movement import (
    tile as tile,
)
from .movement import (
    transpose as transpose,
)
from .movement import (
    tril as tril,
)
from .movement import (
    triu as triu,
)
from .movement import (
    unbind as unbind,
)
from .movement import (
    unflatten as unflatten,
)
from .movement import (
    unfold as unfold,
)
from .movement import (
    unsqueeze as unsqueeze,
)
from .movement import (
    unstack as unstack,
)
from .movement import (
    vstack as vstack,
)
from .normalization import (
    batch_norm as batch_norm,
)
from .normalization import (
    dropout as dropout,
)
from .normalization import (
    group_norm as group_norm,
)
from .normalization import (
    instance_norm as instance_norm,
)
from .normalization import (
    l2_normalize as l2_normalize,
)
from .normalization import (
    layer_norm as layer_norm,
)
from .normalization import (
    local_response_norm as local_response_norm,
)
from .normalization import (
    lp_normalization as lp_normalization,
)
from .normalization import (
    lrn as lrn,
)
from .normalization import (
    mean_variance_normalization as mean_variance_normalization,
)
from .normalization import (
    normalize as normalize,
)
from .normalization import (
    rms_norm as rms_norm,
)
from .pool import (
    adaptive_avg_pool1d as adaptive_avg_pool1d,
)
from .pool import (
    adaptive_avg_pool2d as adaptive_avg_pool2d,
)
from .pool import (
    adaptive_avg_pool3d as adaptive_avg_pool3d,
)
from .pool import (
    adaptive_max_pool1d as adaptive_max_pool1d,
)
from .pool import (
    adaptive_max_pool2d as adaptive_max_pool2d,
)
from .pool import (
    avg_pool1d as avg_pool1d,
)
from .pool import (
    avg_pool2d as avg_pool2d,
)
from .pool import (
    avg_pool3d as avg_pool3d,
)
from .pool import (
    global_avg_pool as global_avg_pool,
)
from .pool import (
    global_lp_pool as global_lp_pool,
)
from .pool import (
    global_max_pool as global_max_pool,
)
from .pool import (
    lp_pool1d as lp_pool1d,
)
from .pool import (
    lp_pool2d as lp_pool2d,
)
from .pool import (
    max_pool1d as max_pool1d,
)
from .pool import (
    max_pool2d as max_pool2d,
)
from .pool import (
    max_pool3d as max_pool3d,
)
from .pool import (
    max_unpool1d as max_unpool1d,
)
from .pool import (
    max_unpool2d as max_unpool2d,
)
from .pool import (
    max_unpool3d as max_unpool3d,
)
from .quantize import (
    dequantize_linear as dequantize_linear,
)
from .quantize import (
    dynamic_quantize_linear as dynamic_quantize_linear,
)
from .quantize import (
    matmul_integer as matmul_integer,
)
from .quantize import (
    qlinear_matmul as qlinear_matmul,
)
from .quantize import (
    quantize_linear as quantize_linear,
)
from .random import (
    bernoulli as bernoulli,
)
from .random import (
    multinomial as multinomial,
)
from .random import (
    normal as normal,
)
from .random import (
    rand as rand,
)
from .random import (
    randint as randint,
)
from .random import (
    randn as randn,
)
from .random import (
    random_bernoulli as random_bernoulli,
)
from .random import (
    random_key as random_key,
)
from .random import (
    random_multinomial as random_multinomial,
)
from .random import (
    random_normal as random_normal,
)
from .random import (
    random_uniform as random_uniform,
)
from .random import (
    randperm as randperm,
)
from .random import (
    set_seed as set_seed,
)
from .random import (
    uniform as uniform,
)
from .recurrent import gru as gru
from .recurrent import lstm as lstm
from .recurrent import rnn as rnn
from .reduce import (
    all as all,
)
from .reduce import (
    amax as amax,
)
from .reduce import (
    amin as amin,
)
from .reduce import (
    any as any,
)
from .reduce import (
    argmax as argmax,
)
from .reduce import (
    argmin as argmin,
)
from .reduce import (
    count_nonzero as count_nonzero,
)
from .reduce import (
    logsumexp as logsumexp,
)
from .reduce import (
    max as max,
)
from .reduce import (
    mean as mean,
)
from .reduce import (
    min as min,
)
from .reduce import (
    norm as norm,
)
from .reduce import (
    prod as prod,
)
from .reduce import (
    reduce_all as reduce_all,
)
from .reduce import (
    reduce_any as reduce_any,
)
from .reduce import (
    reduce_l1 as reduce_l1,
)
from .reduce import (
    reduce_l2 as reduce_l2,
)
from .reduce import (
    reduce_log_sum as reduce_log_sum,
)
from .reduce import (
    reduce_logsumexp as reduce_logsumexp,
)
from .reduce import (
    reduce_max as reduce_max,
)
from .reduce import (
    reduce_mean as reduce_mean,
)
from .reduce import (
    reduce_min as reduce_min,
)
from .reduce import (
    reduce_prod as reduce_prod,
)
from .reduce import (
    reduce_sum as reduce_sum,
)
from .reduce import (
    reduce_sum_square as reduce_sum_square,
)
from .reduce import (
    std as std,
)
from .reduce import (
    std_mean as std_mean,
)
from .reduce import (
    sum as sum,
)
from .reduce import (
    var as var,
)
from .reduce import (
    var_mean as var_mean,
)
from .signal import dft as dft
from .signal import mel_weight_matrix as mel_weight_matrix
from .signal import stft as stft

__all__: list[str]

def __getattr__(name: str) -> Any: ...  # class forms
